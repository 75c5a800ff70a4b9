#!/usr/bin/env bash
# Fuzz every target for SECONDS seconds, one process per core at a time. usage: run.sh BUILD SECONDS
set -euo pipefail
cd "$(dirname "$0")"
build=../$1
seconds=$2
for target in checkpoint csv pomdp preferences run yaml; do
  work=$build/fuzz/work-$target
  mkdir -p "$work"
  echo "$target"
done | xargs -P "$(nproc)" -I{} sh -c "$build/fuzz/fuzz_{} -max_total_time=$seconds -timeout=20 \
  -rss_limit_mb=4096 -artifact_prefix=$build/fuzz/work-{}/crash- $build/fuzz/work-{} corpus/{} \
  > $build/fuzz/{}.log 2>&1 && tail -1 $build/fuzz/{}.log || { tail -40 $build/fuzz/{}.log; exit 255; }"

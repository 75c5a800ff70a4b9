#!/bin/sh
# run.sh [FOLDER]: lint, learn, audit and explain on a synthetic cohort, or on your own export:
#   DATA=ADNIMERGE.csv examples/adni/run.sh adni
# IDM is the program (default: build/idm of this tree, otherwise idm), SEED the seed of the cohort, DRAWS and WARMUP
# those of the audit. THREE=0 leaves out the joint fit of alpha, beta and eta, which takes 20 minutes of processor time
# (README.md).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-adni-run}
program=$here/../../build/idm
[ -x "$program" ] || program=idm
IDM=${IDM:-$program}
mkdir -p "$folder"
if [ -z "${DATA:-}" ]; then
  python3 "$here/cohort.py" "$folder" --seed "${SEED:-1}" --idm "$IDM"
  DATA=$folder/cohort.csv
fi

echo "== lint"
"$IDM" lint "$here/adni.yaml" "$DATA" --json >"$folder/lint.json"
"$IDM" lint "$here/adni.yaml" "$DATA"
echo "== learn: the dynamics, from those of the file on, and how sure they are"
"$IDM" learn "$here/adni.yaml" "$DATA" --draws 20000 --warmup 4000 -o "$folder/learned" --overwrite
if [ "${THREE:-1}" != 0 ]; then
  echo "== fit: alpha, beta and eta together, as in the paper, in the mean of the learnt dynamics"
  "$IDM" fit "$folder/learned/config.yaml" "$DATA" --free alpha,beta,eta -o "$folder/three" --overwrite
fi
echo "== audit: optimism alone, by risk factor, drawn together with the dynamics"
# A draw takes tens of plans, so that the lattice is coarse: its error of means is less than a fifth of the sds that
# uncertain dynamics cause (README.md).
"$IDM" audit "$folder/learned/config.yaml" "$DATA" --set resolution=19 --group 'APOE4!=0' --group 'PTGENDER=Female' --group 'AGE>75' \
  --dynamics "$folder/learned" --draws "${DRAWS:-700}" --warmup "${WARMUP:-200}" -o "$folder/audit" --overwrite
echo "== explain: the decisions that surprise most, and MRIs that came late"
"$IDM" explain "$folder/learned/config.yaml" "$DATA" --due mri
echo "== plot: a patient with rational decisions, one without an MRI that was due, one with a late one"
"$IDM" plot simplex "$folder/learned/config.yaml" "$DATA" --due mri -o "$folder/cases.svg"

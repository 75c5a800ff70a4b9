/* Features of a YAML problem's utility. */
#ifndef IDM_IO_PROBLEM_FEATURES_H
#define IDM_IO_PROBLEM_FEATURES_H

#include "io/problem/reader.h"
#include "io/yaml/emit.h"

/* features: FILE.csv, or {NAME: utility, ...}, and feature_weights: {NAME: number, ...}. */
idm_status idm_yaml_read_features(idm_yaml_reader *reader);
/* Free the weights: all, or those of `opt_entries`, a list of names. `opt_reference` is refused. */
idm_status idm_yaml_free_features(const idm_yaml_reader *reader, const idm_yaml_node *opt_entries,
                                  const idm_yaml_node *opt_reference);
/* Write `entries`, where some weights of a free utility are held. */
void idm_yaml_put_free_features(idm_emitter *out, const idm_block *block);
/* Give a weight another value: --set feature_weights.NAME=1. */
idm_status idm_yaml_set_weight(const idm_yaml_reader *reader, const char *name);
void idm_yaml_put_features(idm_emitter *out, const idm_problem *problem);

#endif

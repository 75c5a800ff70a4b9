"""arguments.py INCLUDE OUT: calls of every public function with invalid arguments.

Reads the declarations in the headers, so that a new function is tested immediately; a parameter whose type SAMPLES does
not contain stops the build. For every function: NULL for each pointer whose name does not begin with opt_, then the
ends of the range of each number, then each object of another problem. tests/arguments.c creates the samples and runs the
calls.
"""

import re
import sys
from pathlib import Path

# Argument of a legal call: members of the fixture of tests/arguments.c, by type and, if the type is not sufficient, by name.
# Objects that a function may change are created again for each call.
SAMPLES = {
    "const idm_problem *": "f->problem",
    "idm_problem *": "f->own_problem",
    "idm_problem *const *": "(idm_problem *const[]){f->own_problem}",
    "const idm_setting *": "f->problem->setting",
    "const idm_settings *": "f->settings",
    "idm_settings *": "f->settings",
    "idm_agent *": "f->agent",
    "idm_watch": "NULL",
    "const idm_problem_arrays *": "&(idm_problem_arrays){.size = sizeof(idm_problem_arrays)}",
    "const idm_rule_planner *": "&(idm_rule_planner){.size = sizeof(idm_rule_planner)}",
    "const idm_data_arrays *": "&(idm_data_arrays){.size = sizeof(idm_data_arrays)}",
    "idm_audit_estimate *": "&f->estimate",
    "const double **": "&f->view",
    "const idm_theta *": "f->problem->theta",
    "idm_theta *": "f->own_problem->theta",
    "const idm_agent_options *": "&f->problem->agent",
    "idm_agent_options *": "&f->own_problem->agent",
    "const idm_data *": "f->data",
    "idm_data *": "f->data",
    "const idm_optimality *": "f->optimality",
    "const idm_prefix_tree *": "f->tree",
    "const idm_parameters *": "f->parameters",
    "const idm_posterior *": "f->posterior",
    "idm_posterior *": "f->posterior",
    "const idm_assessment *": "f->assessment",
    "const idm_class *": "idm_class_at(0)",
    "const idm_compared_agent *": "&(idm_compared_agent){f->problem, NULL}",
    "idm_agent_distance *": "&(idm_agent_distance){0}",
    "const idm_proposition *": "&(idm_proposition){0}",
    "const idm_dynamics *": "f->dynamics",
    "const idm_sparse_rows *": "f->moves",
    "idm_sparse_rows *": "f->moves",
    "idm_dynamics *": "f->dynamics",
    "const idm_dynamics *const *": "(const idm_dynamics *const[]){f->dynamics}",
    "const idm_iohmm *": "f->iohmm",
    "idm_iohmm *": "f->iohmm",
    "const idm_dynamics_draws *": "&f->draws",
    "idm_dynamics_draws *": "&f->own_draws",
    "const idm_cut_draws *": "&f->cuts",
    "const idm_learn_settings *": "&f->learn_settings",
    "idm_learn_settings *": "&f->own_learn_settings",
    "const idm_modes *": "&f->modes",
    "idm_learn_result *": "&f->learnt",
    "idm_cross_validation *": "&f->cv_result",
    "const idm_model_rule *": "&f->rule",
    "const size_t *": "f->count",
    "size_t **": "&f->places",
    "const bool *": "f->flag",
    "idm_assessment *": "f->assessment",
    "const idm_calibration *": "f->calibration",
    "idm_calibration *": "f->calibration",
    "const idm_calibration_settings *": "&f->calibration_settings",
    "idm_calibration_settings *": "&f->calibration_settings",
    "const idm_log_counts *": "f->log_counts",
    "const idm_rule *": "&(idm_rule){0}",
    "idm_rule *": "&(idm_rule){0}",
    "const idm_derived *": "&(idm_derived){0}",
    "idm_derived *": "&(idm_derived){0}",
    "idm_lint *": "NULL",
    "const idm_columns *": "&f->problem->columns",
    "idm_learn_stop": "NULL",
    "const idm_trials *": "f->trials",
    "const idm_design *": "f->design",
    "const idm_design_request *": "&f->design_request",
    "const idm_chains *": "f->chains",
    "idm_chains *": "f->chains",
    "const idm_chains_settings *": "&f->chains->settings",
    "const idm_target *": "&f->target",
    "idm_matching *": "f->matching",
    "const idm_matching *": "f->matching",
    "idm_workspace *": "f->workspace",
    "const idm_workspace *": "f->workspace",
    "const idm_batch *": "&(const idm_batch){0}",
    "const idm_scorer *": "f->scorer",
    "idm_scorer *": "f->scorer",
    "idm_gradient *": "f->gradient",
    "idm_explain_settings *": "&f->explain",
    "const idm_explanation *": "f->explanation",
    "const idm_person_summary *": "f->explanation->person",
    "const idm_figure *": "f->figure",
    "idm_figure *": "f->figure",
    "idm_panel *": "f->figure->panel[0]",
    "const idm_figure_options *": "&(idm_figure_options){.width = 300}",
    "const idm_plot *": 'idm_plot_find("policy")',
    "const idm_plot_subject *": "&(idm_plot_subject){.problem = f->problem}",
    "idm_behavior": "idm_workspace_behavior(f->workspace)",
    "const idm_simulation *": "&f->simulation",
    "idm_simulation *": "&f->simulation",
    "const idm_fit_settings *": "&f->request.settings",
    "idm_fit_settings *": "&f->own_request.settings",
    "const idm_fit_monitor *": "NULL",
    "const idm_request *": "&f->request",
    "idm_request *": "&f->own_request",
    "idm_run *": "&f->run",
    "idm_run_mode": "IDM_RUN_NEW",
    "const idm_progress_state *": "&f->work",
    "idm_projection *": "&f->projection",
    "idm_refinement *": "&f->refinement",
    "const idm_refinement *": "&f->refinement",
    "const idm_projection *": "&f->projection",
    "idm_score *": "&f->score",
    "idm_forward *": "&f->forward",
    "idm_plan_report *": "&f->report",
    "const idm_solver *": "&f->solver",
    "idm_solver *": "&f->solver",
    "idm_sampler_settings *": "&f->kernel",
    "const idm_inverse *": "idm_inverse_at(0)",
    "const idm_planner *": "idm_planner_at(0)",
    "const idm_key *": "f->keys",
    "const void *": "&f->request.settings",
    "void *": "&f->own_request.settings",
    "const idm_block_info *": "idm_block_describe(IDM_ALPHA)",
    "const idm_prior *": "&f->prior",
    "const idm_labels *": "&f->problem->setting->states",
    "idm_labels *": "&f->own_problem->setting->states",
    "idm_random *": "&f->random",
    "idm_diagnosis *": "&f->diagnosis",
    "const idm_diagnosis *": "&f->diagnosis",
    "idm_file *": "f->file",
    "const idm_csv_options *": "NULL",
    "idm_notes *": "&f->notes",
    "idm_predicate *": "&f->predicate",
    "const idm_predicate *": "&f->predicate",
    "const idm_groups *": "&f->groups",
    "const idm_audit *": "&f->audit",
    "const idm_audit_contrast *": "&(const idm_audit_contrast){0}",
    "const idm_audit_group *": "&(const idm_audit_group){0}",
    "const idm_audit_request *": "&f->audit_request",
    "idm_audit_request *": "&f->audit_request",
    "const idm_checks *": "&f->assessment->checks",
    "idm_check_id": "IDM_CHECK_RHAT",
    "idm_check_outcome": "IDM_CHECK_PASSED",
    "idm_check_kind": "IDM_CHECK_FIT",
    "idm_pool": "IDM_POOL_PARTIAL",
    "idm_audit_dynamics": "IDM_AUDIT_POOLED",
    "const idm_audit_settings *": "&f->audit_settings",
    "idm_audit_settings *": "&f->audit_settings",
    "idm_audit_verdict": "IDM_AUDIT_IDENTIFIED",
    "idm_error *": "&f->error",
    "const idm_error *": "&f->error",
    "idm_sizes": "idm_setting_sizes(f->problem->setting)",
    "idm_progress": "NULL",
    "idm_monitor": "NULL",
    "const char *": "f->path",
    "const char *const *": "(const char *const[]){f->path}",
    "idm_codes *": "&f->own_problem->columns.codes[IDM_COLUMN_ACTION]",
    "char *": "f->buffer",
    "const double *": "f->number",
    "double *": "f->number",
    "size_t *": "f->count",
    "bool *": "f->flag",
    "bool": "false",
    "double": "0.5",
    "int": "1",
    "long": "1",
    "unsigned": "0",
    "uint32_t": "0",
    "uint64_t": "1",
    "int64_t": "0",
    "size_t": "1",
    "...": '""',
}
NAMED = {
    "size": "sizeof f->buffer",
    "fields": "&f->own_request.settings",
    "context": "NULL",
    "text": '"a"',
    "assignment": '"alpha=1"',
    "format": '"%s"',
    "dimension": "idm_parameters_dimension(f->parameters)",
    "bins": "10",
    "hash": "f->hash",
    "chain": "0",
    "draw": "0",
    "variant": "0",
    "trajectory": "0",
    "quantity": "0",
    "slot": "0",
    "set": "0",
    "length": "1",
    "bytes": '"a"',
    "models": "1",
    "variants": "1",
    "index": "0",
}
# Lengths of the caller's arrays: only 0 is tested, because other lengths cannot be checked.
VOUCHED = {"count", "size", "length", "draws", "chains", "chain_stride", "draw_stride", "bins"}
# Objects that belong to a problem, and the corresponding objects of another problem.
FOREIGN = {
    "const idm_problem *": "g->problem",
    "const idm_setting *": "g->problem->setting",
    "const idm_theta *": "g->problem->theta",
    "const idm_data *": "g->data",
    "const idm_prefix_tree *": "g->tree",
    "const idm_parameters *": "g->parameters",
    "const idm_posterior *": "g->posterior",
    "const idm_design *": "g->design",
    "idm_workspace *": "g->workspace",
    "const idm_workspace *": "g->workspace",
    "idm_theta *": "g->own_problem->theta",
    "idm_behavior": "idm_workspace_behavior(g->workspace)",
}
EXTREMES = {
    "size_t": ["0", "SIZE_MAX", "SIZE_MAX / 8"],
    "int": ["0", "-1", "INT_MAX", "INT_MIN"],
    "long": ["0", "-1", "LONG_MAX", "LONG_MIN"],
    "unsigned": ["UINT_MAX"],
    "uint32_t": ["UINT32_MAX"],
    "int64_t": ["-1", "INT64_MIN", "INT64_MAX"],
    "double": ["NAN", "INFINITY", "-INFINITY", "1e308"],
    "const char *": ['""'],
}
ENUMS = re.compile(r"idm_(status|scale|axis|block_id|prior_kind|stop|column|run_mode|derivation|rule_kind|explain_part|"
                   r"mark_kind|figure_column|figure_theme)$")
# Functions that destroy or pass on their arguments: only NULL is tested.
ENDS = re.compile(r"_(destroy|clear|abandon|commit)$")


def split(parameters):
    """Parameters of a declaration as (type, name)."""
    depth, current, parts = 0, "", []
    for letter in parameters:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append(current)
            current = ""
        else:
            current += letter
    parts.append(current)
    for part in (p.strip() for p in parts):
        if part in ("void", "..."):
            yield part, ""
        elif "(*" in part:
            yield "function", re.search(r"\(\*(\w+)\)", part).group(1)
        else:
            kind, name = re.match(r"(.*?)(\w+)(?:\[\w*\])?$", part).groups()
            yield kind.strip() + (" *" if part.endswith("]") else ""), name


def declarations(root):
    headers = [*Path(root, "include").rglob("*.h"), *Path(root, "src").rglob("*.h")]
    for path in sorted(headers):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
        text = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("#"))
        for match in re.finditer(r"(?:IDM_API|IDM_CHECKED)\s+([^;]*);", text):
            words = re.sub(r"\s*IDM_PRINTF\(.*?\)$", "", " ".join(match.group(1).split()))
            kind, name, parameters = re.match(r"(.*?)(\w+)\((.*)\)$", words).groups()
            yield name, kind.strip(), list(split(parameters))


def made_by(kind):
    """Type of the object that a function creates, or None."""
    match = re.match(r"(idm_\w+|char) \*\*$", kind)
    return match and match.group(1)


def unmake(kind):
    """Destruction of an object created by a legal call that succeeded unexpectedly; a figure keeps its arguments."""
    return {"char": "free", "idm_file": "idm_file_abandon", "idm_panel": "(void)", "idm_mark": "(void)"}.get(kind, f"{kind}_destroy")


def sample(function, kind, name):
    if kind == "idm_labels *" and (function == "idm_labels_create" or name.startswith("ret_")):
        return "&f->labels"
    if kind == "function" or name.startswith("opt_") and kind not in ("idm_error *", "idm_notes *"):
        return "NULL"
    if name in NAMED:
        return NAMED[name]
    if kind in SAMPLES:
        return SAMPLES[kind]
    if made_by(kind):
        return f"&{name}"
    if re.match(r"idm_\w+$", kind):
        return f"({kind})0"
    if ENDS.search(function):
        return "NULL"
    raise SystemExit(f"arguments.py: {function}: no sample for '{kind} {name}'")


def is_pointer(kind):
    return kind.endswith("*")


def calls(name, parameters):
    """(description, expression, whether the status must be IDM_USAGE)."""
    legal = [sample(name, kind, p) for kind, p in parameters]

    def put(at, value):
        return f"{name}({', '.join(value if i == at else a for i, a in enumerate(legal))})"

    for at, (kind, p) in enumerate(parameters):
        if is_pointer(kind) and not p.startswith("opt_") and p not in ("context", "format"):
            yield f"{p} is NULL", put(at, "NULL"), True
    if ENDS.search(name):
        return
    for at, (kind, p) in enumerate(parameters):
        values = ["0"] if p in VOUCHED else EXTREMES.get(kind, [])
        if ENUMS.match(kind):
            values = [f"({kind})-1", f"({kind})1000"]
        for value in values if p not in ("format", "bytes") else []:
            shown = value.replace('"', "'")
            yield f"{p} is {shown}", put(at, value), False
        if kind in FOREIGN and len(parameters) > 2:
            yield f"{p} is another problem's", put(at, FOREIGN[kind]), False


def block(kind, parameters, what, call, refused):
    """One call, in its own block."""
    makes = [(made_by(k), p) for k, p in parameters if made_by(k) and not p.startswith("opt_")]
    lines = ["  {", f'    prepare(f, "{what}");']
    lines += [f"    {made} *{p} = NULL;" for made, p in makes]
    lines.append(f"    refused({call});" if kind == "idm_status" and refused else f"    (void){call};")
    lines += [f"    {unmake(made)}({p});" for made, p in makes]
    return "\n".join(lines + ["  }"])


def main():
    include, out = sys.argv[1:]
    texts, names = [], []
    for name, kind, parameters in declarations(include):
        if parameters == [("void", "")]:
            continue
        blocks = [block(kind, parameters, *c) for c in calls(name, parameters)]
        names.append(name)
        texts.append(f"static void call_{name}(void **state)\n{{\n  fixture *f = *state;\n"
                     "  fixture *g = f->other;\n  (void)g;\n" + "\n".join(blocks) + "\n}\n")
    texts.append("static const struct CMUnitTest argument_calls[] = {")
    texts += [f"    cmocka_unit_test(call_{name})," for name in names] + ["};"]
    Path(out).write_text("\n".join(texts) + "\n", encoding="utf-8")


main()

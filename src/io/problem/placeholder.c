/* Placeholders of `idm init` that nobody has filled in. */
#include "io/problem/placeholder.h"

#include <stdio.h>
#include <string.h>

static bool is_placeholder(const yaml_node_t *node)
{
  return node->type == YAML_SCALAR_NODE && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
         strcmp((const char *)node->data.scalar.value, IDM_PLACEHOLDER) == 0;
}

/* The first line after `last` with a placeholder; 0 where there is none. Counts those on it. */
static size_t next_line(const idm_yaml_tree *tree, size_t last, size_t *count)
{
  size_t found = 0;
  for (const yaml_node_t *n = tree->document.nodes.start; n < tree->document.nodes.top; n++) {
    const size_t line = n->start_mark.line + 1;
    if (!is_placeholder(n) || line <= last) continue;
    if (!found || line < found) {
      found = line;
      *count = 0;
    }
    *count += line == found;
  }
  return found;
}

/* "4, 9 and 12 to 15". */
idm_status idm_yaml_check_placeholders(const idm_yaml_tree *tree)
{
  char lines[500] = "";
  size_t used = 0;
  size_t all = 0;
  size_t count = 0;
  const size_t first = next_line(tree, 0, &count);
  for (size_t line = first; line;) {
    size_t end = line;
    size_t follows;
    all += count;
    while ((follows = next_line(tree, end, &count)) == end + 1) {
      all += count;
      end = follows;
    }
    const char *comma = line == first ? "" : follows ? ", " : " and ";
    if (used < sizeof lines && end == line)
      used += (size_t)snprintf(lines + used, sizeof lines - used, "%s%zu", comma, line);
    else if (used < sizeof lines)
      used += (size_t)snprintf(lines + used, sizeof lines - used, "%s%zu to %zu", comma, line, end);
    line = follows;
  }
  if (!all) return IDM_OK;
  return idm_fail_at(tree->opt_error, tree->file, (long)first, 1,
                     "%zu placeholder%s (" IDM_PLACEHOLDER
                     ") that `idm init` or `idm learn` left %s still "
                     "to be filled in, on line%s %s",
                     all, all == 1 ? "" : "s", all == 1 ? "is" : "are",
                     lines[strspn(lines, "0123456789")] ? "s" : "", lines);
}

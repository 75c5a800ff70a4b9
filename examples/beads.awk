# Prepare the beads log of OpenNeuro ds003758 (one row a decision) for examples/beads.yaml:
#   awk -f beads.awk beads_voi_decisions.csv > beads.csv
# available: where drawing was not allowed, or the clock ended it (draws_allowed other than 1), only the two
# bets are open. belief.*: log-odds (n_high - n_low) ln 1.5 at a trial's start.
BEGIN { FS = OFS = "," }
{ sub(/\r$/, "") }
NR == 1 {
  for (i = 1; i <= NF; i++) column[$i] = i
  print $0, "available", "belief.high", "belief.low"
  next
}
{
  open = $column["draws_allowed"] == 1 ? "" : "bet_high|bet_low"
  high = ""
  low = ""
  if ($column["step"] == 1) {
    high = sprintf("%.17g", 1 / (1 + 1.5 ^ ($column["n_low"] - $column["n_high"])))
    low = sprintf("%.17g", 1 / (1 + 1.5 ^ ($column["n_high"] - $column["n_low"])))
  }
  print $0, open, high, low
}

# The search of search_best_setting.sh. Reads measured curves ("kind bits level files entries bytes checks
# false_positives wasted_reads", one setting for all levels after the other), then the budget's own setting ("spec level
# files entries bytes ..."). Prints the best spec found for the share `absent` (percent) and `bits` per key on average.

FNR == NR && $3 != "all" {
  level = $3 + 0
  if (level > last) last = level
  files[level] = $4; entries[level] = $5
  n = ++points[level]
  kind[level, n] = $1; asked[level, n] = $2
  size[level, n] = $6 / $5
  rate[level, n] = ($8 + 0.5) / $7  # half a count for none at all
}
FNR != NR && $2 != "all" { start[$2 + 0] = $5 / $4 }

# Expected rate of a level with so many bytes per entry: between two measured points of one kind it falls exponentially.
# Leaves kind and bits to ask for in `chosen` and `amount`.
function Rate(level, bytes,    i, j, share, r, least) {
  least = 1; chosen = "none"; amount = 0
  for (i = 1; i <= points[level]; ++i) {
    j = i + 1
    if (j > points[level] || kind[level, j] != kind[level, i]) j = i
    if (bytes < size[level, i] - 1e-9) continue
    if (j != i && bytes > size[level, j]) continue
    share = j == i || size[level, j] == size[level, i] ? 0 : (bytes - size[level, i]) / (size[level, j] - size[level, i])
    r = exp(log(rate[level, i]) * (1 - share) + log(rate[level, j]) * share)
    if (r < least) {
      least = r; chosen = kind[level, i]; amount = asked[level, i] + share * (asked[level, j] - asked[level, i])
    }
  }
  return least
}

# How often a lookup asks a level in vain, all files of level 0 together.
function Weight(level,    below, i, sum) {
  below = 0
  for (i = level + 1; i <= last; ++i) below += entries[i]
  if (level > 0) return absent / 100 + (1 - absent / 100) * below / total
  for (i = 0; i < files[0]; ++i) sum += absent / 100 + (1 - absent / 100) * (below + entries[0] * i / files[0]) / total
  return sum
}

function Wasted(level, bytes) { return weight[level] * Rate(level, bytes) }

# Moves memory between two levels while that helps.
function Improve(    i, j, step, moved, to, gain, best, from_level, to_level, amount_moved, sum) {
  do {
    best = 0
    for (i = 0; i <= last; ++i) for (j = 0; j <= last; ++j) if (i != j) for (step = 0.01; step <= 8; step *= 1.35) {
      moved = step / 8 * entries[i]
      if (at[i] * entries[i] - moved < 0) continue
      gain = Wasted(i, at[i]) - Wasted(i, at[i] - moved / entries[i]) + Wasted(j, at[j]) - Wasted(j, at[j] + moved / entries[j])
      if (gain > best) { best = gain; from_level = i; to_level = j; amount_moved = moved }
    }
    if (best > 0) { at[from_level] -= amount_moved / entries[from_level]; at[to_level] += amount_moved / entries[to_level] }
  } while (best > 1e-9)
  sum = 0
  for (i = 0; i <= last; ++i) sum += Wasted(i, at[i])
  return sum
}

END {
  for (i = 0; i <= last; ++i) total += entries[i]
  for (i = 0; i <= last; ++i) weight[i] = Weight(i)
  for (way = 1; way <= 2; ++way) {
    used = 0
    for (i = 0; i <= last; ++i) { at[i] = way == 1 ? start[i] : bits / 8; used += at[i] * entries[i] }
    at[last] += (bits / 8 * total - used) / entries[last]
    wasted = Improve()
    if (way == 1 || wasted < least) {
      least = wasted
      spec = ""
      for (i = 0; i <= last; ++i) {
        Rate(i, at[i])
        spec = spec (i == 0 ? "tieredfilter:" : ",") i ":" (chosen == "none" ? chosen : chosen ":" int(amount * 1000) / 1000)
      }
    }
  }
  print spec
}

// The lookup, the same for every kernel. No include guard: lookup.cc includes it once per kernel,
// in a namespace of its own and compiled for that kernel's CPU, with `Kernel` naming what tests one
// line.

// Reads the primary line, unless its threshold sends the key to the other one. Choosing without a
// branch would make every lookup wait for the primary line before it can ask for the right one.
template <bool kNarrow>
TIEREDFILTER_INLINE bool MatchHash(const LinesView& view, uint64_t hash) {
  hash = SaltHash(hash, view.salt);
  const PrimarySlot slot = PrimaryOf(hash, view.count);
  const char* line = view.lines + uint64_t{slot.line} * kLineBytes;
  const KeyEquation key = EquationOf(hash);
  uint32_t tag = Kernel::Tag(line);
  if (__builtin_expect(slot.group < (tag & kTagThreshold), 0)) {
    line = view.lines + uint64_t{SecondaryOf(slot.line, key.spread, view.count)} * kLineBytes;
    tag = Kernel::Tag(line);
  }
  return kNarrow ? Kernel::Narrow(line, tag, view.planes, key)
                 : Kernel::Wide(line, tag, view.planes, key);
}

template <bool kNarrow>
bool MatchKey(const LinesView& view, const char* data, size_t size) {
  return MatchHash<kNarrow>(view, HashKey(data, size));
}

template <bool kNarrow>
bool MatchOneHash(const LinesView& view, uint64_t hash) {
  return MatchHash<kNarrow>(view, hash);
}

// Three passes, so that cache misses of different keys overlap: ask for all primary lines; test all
// keys against them without a branch on the threshold, noting who has to look elsewhere; then do
// those again.
template <bool kNarrow>
void MatchKeys(const LinesView& view, const KeyView* keys, size_t count, bool* may_match) {
  uint64_t hashes[kMaxBatch];
  const char* lines[kMaxBatch];
  for (size_t i = 0; i < count; ++i) {
    hashes[i] = SaltHash(HashKey(keys[i].data, keys[i].size), view.salt);
    lines[i] = view.lines + uint64_t{PrimaryOf(hashes[i], view.count).line} * kLineBytes;
    // Both ends, since a block need not start at a cache line. Into the second level, as stock
    // Bloom does: 32 lines at once would push other things out of the first.
    __builtin_prefetch(lines[i], 0, 1);
    __builtin_prefetch(lines[i] + kLineBytes - 1, 0, 1);
  }
  uint8_t elsewhere[kMaxBatch];
  size_t moved = 0;
  for (size_t i = 0; i < count; ++i) {
    const PrimarySlot slot = PrimaryOf(hashes[i], view.count);
    const KeyEquation key = EquationOf(hashes[i]);
    const uint32_t tag = Kernel::Tag(lines[i]);
    may_match[i] = kNarrow ? Kernel::Narrow(lines[i], tag, view.planes, key)
                           : Kernel::Wide(lines[i], tag, view.planes, key);
    elsewhere[moved] = static_cast<uint8_t>(i);
    moved += slot.group < (tag & kTagThreshold);
  }
  for (size_t m = 0; m < moved; ++m) {
    const uint64_t hash = hashes[elsewhere[m]];
    const uint32_t line =
        SecondaryOf(PrimaryOf(hash, view.count).line, EquationOf(hash).spread, view.count);
    lines[m] = view.lines + uint64_t{line} * kLineBytes;
    __builtin_prefetch(lines[m], 0, 1);
    __builtin_prefetch(lines[m] + kLineBytes - 1, 0, 1);
  }
  for (size_t m = 0; m < moved; ++m) {
    const KeyEquation key = EquationOf(hashes[elsewhere[m]]);
    const uint32_t tag = Kernel::Tag(lines[m]);
    may_match[elsewhere[m]] = kNarrow ? Kernel::Narrow(lines[m], tag, view.planes, key)
                                      : Kernel::Wide(lines[m], tag, view.planes, key);
  }
}

constexpr LookupKernel kNarrowLookup = {&MatchKey<true>, &MatchKeys<true>, &MatchOneHash<true>};
constexpr LookupKernel kWideLookup = {&MatchKey<false>, &MatchKeys<false>, &MatchOneHash<false>};

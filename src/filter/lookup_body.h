// The lookup, the same for every kernel. No include guard: lookup.cc includes it once per kernel,
// in a namespace of its own and compiled for that kernel's CPU, with `Kernel` naming what tests one
// line.

using Multiplier = Kernel::Multiplier;

// A line is tested in two steps: the planes that a vector holds, which turn nearly every absent key
// away, and the rest.
template <Shape kShape>
TIEREDFILTER_INLINE bool TestFirst(const char* line, uint32_t tag, uint32_t planes,
                                   const KeyEquation& key) {
  if (kShape == Shape::kWide7) return Kernel::Wide7(line, tag, planes, key);
  if (kShape == Shape::kWide) return Kernel::Wide(line, tag, planes, key);
  if (kShape == Shape::kTriple) return TripleLineMatches(line, tag, key);
  return Kernel::FirstEight(line, key);
}

// Planes 8 and up of filters whose lower kind has nine. Not inlined: most absent keys do not get
// here, and the registers would have to be saved for everybody.
__attribute__((noinline)) bool TestExtraPlanes9(const char* line, uint32_t tag,
                                                uint64_t coefficients, uint64_t high) {
  return Kernel::template ExtraPlanes<9>(line, tag, KeyEquation{coefficients, high, 0});
}

// The same for any number from ten on, compiled for each up to where the kernels' tables end.
template <uint32_t kLower = kNarrowPlanes + 2>
TIEREDFILTER_INLINE bool TestExtraPlanes(const char* line, uint32_t tag, uint32_t lower,
                                         const KeyEquation& key) {
  if constexpr (kLower < kMaxExtraLanesPlanes) {
    if (lower == kLower) return Kernel::template ExtraPlanes<kLower>(line, tag, key);
    return TestExtraPlanes<kLower + 1>(line, tag, lower, key);
  } else {
    return ExtraPlanesMatch(line, lower + (tag & kTagMorePlanes), key.coefficients,
                            NarrowFingerprint(key.high));
  }
}
__attribute__((noinline)) bool TestAnyExtraPlanes(const char* line, uint32_t tag, uint32_t lower,
                                                  uint64_t coefficients, uint64_t high) {
  return TestExtraPlanes(line, tag, lower, KeyEquation{coefficients, high, 0});
}

template <Shape kShape>
TIEREDFILTER_INLINE bool TestRest(const char* line, uint32_t tag, uint32_t planes,
                                  const KeyEquation& key) {
  if (kShape == Shape::kNarrow9) return TestExtraPlanes9(line, tag, key.coefficients, key.high);
  if (kShape == Shape::kNarrow)
    return TestAnyExtraPlanes(line, tag, planes, key.coefficients, key.high);
  if (kShape == Shape::kRarely9 && __builtin_expect((tag & kTagMorePlanes) == 0, 1)) return true;
  if (kShape == Shape::kRarely9 || kShape == Shape::kNarrow8) {
    // For a line of eight planes taken too, and then ignored: a branch on the kind would be a coin
    // toss.
    const uint32_t wrong = Kernel::NinthParity(line, key.coefficients) ^
                           (NarrowFingerprint(key.high) >> kNarrowPlanes);
    return (wrong & tag & kTagMorePlanes) == 0;
  }
  return true;
}

template <Shape kShape>
TIEREDFILTER_INLINE bool TestLine(const char* line, uint32_t tag, uint32_t planes,
                                  const KeyEquation& key) {
  return TestFirst<kShape>(line, tag, planes, key) && TestRest<kShape>(line, tag, planes, key);
}

// The way of about one key in ten. Not inlined: what it needs would push registers of the usual way
// to the stack.
template <Shape kShape>
__attribute__((noinline)) bool TestSecondary(const LinesView& view, uint64_t hash,
                                             uint32_t primary) {
  const KeyEquation key = EquationOf<Multiplier>(hash);
  const char* line =
      view.lines + uint64_t{SecondaryOf<Multiplier>(primary, key.spread, view.count)} * kLineBytes;
  return TestLine<kShape>(line, Kernel::Tag(line), view.planes, key);
}

// Reads the primary line, unless its threshold sends the key to the other one. Choosing without a
// branch would make every lookup wait for the primary line before it can ask for the right one.
template <Shape kShape>
TIEREDFILTER_INLINE bool TestHash(const LinesView& view, uint64_t hash) {
  const PrimarySlot slot = PrimaryOf<Multiplier>(hash, view.count);
  const char* line = view.lines + uint64_t{slot.line} * kLineBytes;
  const uint32_t tag = Kernel::Tag(line);
  if (__builtin_expect(GroupIsGivenAway(slot.group, tag), 0)) {
    return TestSecondary<kShape>(view, hash, slot.line);
  }
  return TestLine<kShape>(line, tag, view.planes, EquationOf<Multiplier>(hash));
}

template <Shape kShape, bool kSalted>
bool MatchHash(const LinesView& view, uint64_t hash) {
  return TestHash<kShape>(view, kSalted ? SaltHash(hash, view.salt) : hash);
}

template <Shape kShape, bool kSalted>
__attribute__((noinline)) bool MatchLongKey(const LinesView& view, const char* data, size_t size) {
  return MatchHash<kShape, kSalted>(view, HashKey(data, size));
}

template <Shape kShape, bool kSalted>
__attribute__((noinline)) TIEREDFILTER_FLATTEN bool MatchMediumKey(const LinesView& view,
                                                                   const char* data, size_t size) {
  if (__builtin_expect(size > kMediumKey, 0)) {
    return MatchLongKey<kShape, kSalted>(view, data, size);
  }
  const uint64_t hash = HashKey(data, size);
  return TestHash<kShape>(view, kSalted ? SaltHash(hash, view.salt) : hash);
}

// The usual key is short, and its whole lookup makes no call that is not a tail call and keeps few
// values at once: only then does the compiler leave out the stack frame. Instructions count here:
// where filters do not fit the cache, the next lookups' misses overlap with this one's as far as
// the processor's window reaches (256 instructions on Zen 3), so a lookup of 95 instructions is a
// third faster than one of 120. `flatten` for the hash, which g++ would not inline by itself.
template <Shape kShape, bool kSalted>
TIEREDFILTER_FLATTEN bool MatchKey(const LinesView& view, const char* data, size_t size) {
  if (__builtin_expect(size > kShortKey, 0)) {
    return MatchMediumKey<kShape, kSalted>(view, data, size);
  }
  const uint64_t hash = HashKey(data, size);
  return TestHash<kShape>(view, kSalted ? SaltHash(hash, view.salt) : hash);
}

// Three passes, so that cache misses of different keys overlap: ask for all primary lines; test all
// keys against them without a branch on the threshold, noting who has to look elsewhere; then do
// those again.
template <Shape kShape, bool kSalted>
TIEREDFILTER_FLATTEN void MatchKeys(const LinesView& view, const KeyView* keys, size_t count,
                                    bool* may_match) {
  uint64_t hashes[kMaxBatch];
  uint32_t lines[kMaxBatch];
  uint8_t groups[kMaxBatch];
  for (size_t i = 0; i < count; ++i) {
    const uint64_t hash = HashKey(keys[i].data, keys[i].size);
    hashes[i] = kSalted ? SaltHash(hash, view.salt) : hash;
    const PrimarySlot slot = PrimaryOf<Multiplier>(hashes[i], view.count);
    lines[i] = slot.line;
    groups[i] = static_cast<uint8_t>(slot.group);
    PrefetchLine(view.lines + uint64_t{slot.line} * kLineBytes);
  }
  uint8_t elsewhere[kMaxBatch];
  size_t moved = 0;
  for (size_t i = 0; i < count; ++i) {
    const char* line = view.lines + uint64_t{lines[i]} * kLineBytes;
    const uint32_t tag = Kernel::Tag(line);
    may_match[i] = TestLine<kShape>(line, tag, view.planes, EquationOf<Multiplier>(hashes[i]));
    elsewhere[moved] = static_cast<uint8_t>(i);
    moved += GroupIsGivenAway(groups[i], tag);
  }
  for (size_t m = 0; m < moved; ++m) {
    const uint8_t i = elsewhere[m];
    lines[i] =
        SecondaryOf<Multiplier>(lines[i], EquationOf<Multiplier>(hashes[i]).spread, view.count);
    PrefetchLine(view.lines + uint64_t{lines[i]} * kLineBytes);
  }
  for (size_t m = 0; m < moved; ++m) {
    const uint8_t i = elsewhere[m];
    const char* line = view.lines + uint64_t{lines[i]} * kLineBytes;
    may_match[i] =
        TestLine<kShape>(line, Kernel::Tag(line), view.planes, EquationOf<Multiplier>(hashes[i]));
  }
}

template <Shape kShape, bool kSalted>
constexpr LookupKernel kLookup = {&MatchKey<kShape, kSalted>, &MatchKeys<kShape, kSalted>,
                                  &MatchHash<kShape, kSalted>};

// Indexed by Shape, then by whether the filter is salted.
constexpr LookupKernel kLookups[7][2] = {
    {kLookup<Shape::kRarely9, false>, kLookup<Shape::kRarely9, true>},
    {kLookup<Shape::kNarrow8, false>, kLookup<Shape::kNarrow8, true>},
    {kLookup<Shape::kNarrow9, false>, kLookup<Shape::kNarrow9, true>},
    {kLookup<Shape::kNarrow, false>, kLookup<Shape::kNarrow, true>},
    {kLookup<Shape::kWide7, false>, kLookup<Shape::kWide7, true>},
    {kLookup<Shape::kWide, false>, kLookup<Shape::kWide, true>},
    {kLookup<Shape::kTriple, false>, kLookup<Shape::kTriple, true>},
};

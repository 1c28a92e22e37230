// The lookup in a short filter. No include guard: short_lookup.cc includes it once per kernel, in a
// namespace of its own and compiled for that kernel's CPU; it is the instructions for parities and
// shifts that make the difference.

// A key's coefficients as far as a line has columns.
struct ShortKey {
  uint64_t low, high;
  uint32_t fingerprint;
};

// Bit 0: whether the plane that starts at bit `at` has another parity with the key's coefficients
// than the fingerprint's bit. What is above does not count.
TIEREDFILTER_INLINE uint32_t Wrong(const char* bits, uint32_t at, uint32_t plane,
                                   const ShortKey& key) {
  const char* p = bits + at / 8;
  const uint32_t shift = at % 8;
  return Parity((LoadWord(p) & (key.low << shift)) ^
                (LoadWord(p + kShortLowColumns / 8) & (key.high << shift))) ^
         (key.fingerprint >> plane);
}

// `bits`: a line of `planes` planes behind its tag, if kMore, of one more where `more` is 1.
template <bool kMore>
TIEREDFILTER_INLINE bool ShortLineMatches(const char* bits, uint32_t planes, uint32_t more,
                                          uint32_t columns, const KeyEquation& equation) {
  const uint32_t low_columns = std::min(columns, kShortLowColumns);
  const ShortKey key = {equation.coefficients & ((uint64_t{1} << low_columns) - 1),
                        equation.high & ((uint64_t{1} << (columns - low_columns)) - 1),
                        NarrowFingerprint(equation.high)};
  // Four planes at a time: leaving after each would mispredict every second branch. The first three
  // are always there.
  uint32_t wrong =
      Wrong(bits, 0, 0, key) | Wrong(bits, columns, 1, key) | Wrong(bits, 2 * columns, 2, key);
  if (planes > 3) wrong |= Wrong(bits, 3 * columns, 3, key);
  if ((wrong & 1) != 0) return false;
  for (uint32_t plane = 4; plane < planes; ++plane) {
    if ((Wrong(bits, plane * columns, plane, key) & 1) != 0) return false;
  }
  // Not left to the loop, which then always ends at the same plane.
  return !kMore || (Wrong(bits, planes * columns, planes, key) & more) == 0;
}

TIEREDFILTER_INLINE bool TestLine(const LinesView& view, const char* line, uint32_t tag,
                                  const KeyEquation& key) {
  const uint32_t more = tag / kShortTagMorePlanes;
  return ShortLineMatches<true>(line + 1, view.planes, more, view.columns[more], key);
}

// The way of few keys, not inlined to leave the usual way its registers.
__attribute__((noinline)) bool TestSecondary(const LinesView& view, uint64_t hash,
                                             uint32_t primary) {
  const KeyEquation key = EquationOf(hash);
  const char* line =
      view.lines + size_t{SecondaryOf(primary, key.spread, view.count)} * view.stride;
  return TestLine(view, line, static_cast<uint8_t>(*line), key);
}

template <bool kLone>
TIEREDFILTER_INLINE bool TestHash(const LinesView& view, uint64_t unsalted) {
  const uint64_t hash = SaltHash(unsalted, view.salt);
  if (kLone) {
    return ShortLineMatches<false>(view.lines, view.planes, 0, view.columns[0], EquationOf(hash));
  }
  const PrimarySlot slot = PrimaryOf(hash, view.count);
  const char* line = view.lines + size_t{slot.line} * view.stride;
  const uint32_t tag = static_cast<uint8_t>(*line);
  if (__builtin_expect(slot.group < (tag % kShortTagMorePlanes), 0)) {
    return TestSecondary(view, hash, slot.line);
  }
  return TestLine(view, line, tag, EquationOf(hash));
}

template <bool kLone>
__attribute__((noinline)) bool MatchHash(const LinesView& view, uint64_t hash) {
  return TestHash<kLone>(view, hash);
}

// Long keys apart, so that the usual key's way needs no stack frame; see lookup_body.h.
template <bool kLone>
__attribute__((noinline)) bool MatchLongKey(const LinesView& view, const char* data, size_t size) {
  return TestHash<kLone>(view, HashKey(data, size));
}

template <bool kLone>
TIEREDFILTER_FLATTEN bool MatchKey(const LinesView& view, const char* data, size_t size) {
  if (__builtin_expect(size > kShortKey, 0)) return MatchLongKey<kLone>(view, data, size);
  return TestHash<kLone>(view, HashKey(data, size));
}

// Without prefetches: a short block is a few cache lines next to each other.
template <bool kLone>
TIEREDFILTER_FLATTEN void MatchKeys(const LinesView& view, const KeyView* keys, size_t count,
                                    bool* may_match) {
  for (size_t i = 0; i < count; ++i) {
    may_match[i] = TestHash<kLone>(view, HashKey(keys[i].data, keys[i].size));
  }
}

template <bool kLone>
constexpr LookupKernel kLookup = {&MatchKey<kLone>, &MatchKeys<kLone>, &MatchHash<kLone>};

constexpr LookupKernel kLookups[2] = {kLookup<false>, kLookup<true>};

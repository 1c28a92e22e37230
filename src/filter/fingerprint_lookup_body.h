// The lookup in lines of the fingerprints coding, the same for every kernel. No include guard:
// fingerprint_lookup.cc includes it once per kernel, in a namespace of its own and compiled for
// that kernel's CPU, with `Bits` naming how that kernel counts and finds ones:
//   Count(word)      the number of ones
//   Select(word, i)  the position of the (i % 64)-th one, from 0; 64 if there are not so many

// True if the key's fingerprint is in the line. Straight-line code: half of the mini-buckets that
// absent keys ask for are empty and a third hold one key, so a branch on that would miss all the
// time.
template <uint32_t kHeaderWords>
TIEREDFILTER_INLINE bool LineMatches(const char* line, uint32_t tag, uint32_t remainder_bits,
                                     const KeyEquation& key) {
  const RemainderFields& f = kRemainderFields.of[remainder_bits];
  const uint32_t keys = std::min(TagKeys(tag), f.max_keys);
  const uint32_t mini_buckets =
      std::min(kHeaderWords * 64 - keys, kFingerprintBodyBits - keys * (remainder_bits + 1));
  const uint32_t quotient = MiniBucketOf(key, mini_buckets);

  // The header word that has the quotient-th one, and how many ones come before that word. In
  // arithmetic, since compilers make a branch of a choice, and it would be a coin toss.
  uint32_t word = 0, before = 0, ones = 0;
  for (uint32_t j = 0; j + 1 < kHeaderWords; ++j) {
    const uint32_t count = Bits::Count(LoadWord(line + 8 * j));
    ones += count;
    const uint32_t later = (ones - quotient - 1) >> 31;  // 1 if quotient >= ones
    word += later;
    before += count & (0 - later);
  }
  const uint32_t start = 64 * word + Bits::Select(LoadWord(line + 8 * word), quotient - before) + 1;

  // The stop bit is for lines that no builder wrote, and for long mini-buckets, which go the long
  // way anyhow.
  const uint64_t run = LineWindow(line, start) | (uint64_t{1} << 57);
  const uint32_t skipped = std::min(start - 1 - quotient, keys);
  const uint32_t in_bucket = std::min(static_cast<uint32_t>(__builtin_ctzll(run)), keys - skipped);
  const uint64_t remainder = RemainderOf(key, remainder_bits);
  if (__builtin_expect(in_bucket > f.fields, 0)) {
    return LongMiniBucketMatches(line, start, skipped, keys, remainder_bits, remainder);
  }
  const uint64_t window =
      LineWindow(line, kFingerprintBodyBits - (keys - skipped) * remainder_bits);
  // A field of zeros is a match; fields that are not this mini-bucket's are made all ones. Borrows
  // only ever come out of a field of zeros, so the test as a whole is exact.
  const uint64_t differs =
      (window ^ (remainder * f.ones)) | (~uint64_t{0} << (in_bucket * remainder_bits));
  return ((differs - f.ones) & ~differs & f.highs) != 0;
}

TIEREDFILTER_INLINE const char* PrimaryLine(const LinesView& view, const PrimarySlot& slot) {
  return view.lines + uint64_t{slot.line} * kLineBytes;
}
TIEREDFILTER_INLINE const char* SecondaryLine(const LinesView& view, const PrimarySlot& slot,
                                              const KeyEquation& key) {
  return view.lines + uint64_t{SecondaryOf(slot.line, key.spread, view.count)} * kLineBytes;
}

template <uint32_t kHeaderWords>
TIEREDFILTER_INLINE bool MatchHash(const LinesView& view, uint64_t hash) {
  hash = SaltHash(hash, view.salt);
  const PrimarySlot slot = PrimaryOf(hash, view.count);
  const KeyEquation key = EquationOf(hash);
  const char* line = PrimaryLine(view, slot);
  uint32_t tag = FingerprintTag(line);
  if (__builtin_expect(slot.group < TagThreshold(tag), 0)) {
    line = SecondaryLine(view, slot, key);
    tag = FingerprintTag(line);
  }
  return LineMatches<kHeaderWords>(line, tag, view.planes, key);
}

template <uint32_t kHeaderWords>
bool MatchKey(const LinesView& view, const char* data, size_t size) {
  return MatchHash<kHeaderWords>(view, HashKey(data, size));
}

template <uint32_t kHeaderWords>
bool MatchOneHash(const LinesView& view, uint64_t hash) {
  return MatchHash<kHeaderWords>(view, hash);
}

// Asks for all primary lines, then reads their thresholds and asks for the secondary lines needed,
// then compares: so that the cache misses of different keys overlap.
template <uint32_t kHeaderWords>
void MatchKeys(const LinesView& view, const KeyView* keys, size_t count, bool* may_match) {
  uint64_t hashes[kMaxBatch];
  const char* lines[kMaxBatch];
  for (size_t i = 0; i < count; ++i) {
    hashes[i] = SaltHash(HashKey(keys[i].data, keys[i].size), view.salt);
    lines[i] = PrimaryLine(view, PrimaryOf(hashes[i], view.count));
    // Both ends, since a block need not start at a cache line; into the second level, so that 32
    // lines at once do not push other things out of the first.
    __builtin_prefetch(lines[i], 0, 1);
    __builtin_prefetch(lines[i] + kLineBytes - 1, 0, 1);
  }
  for (size_t i = 0; i < count; ++i) {
    const PrimarySlot slot = PrimaryOf(hashes[i], view.count);
    if (__builtin_expect(slot.group < TagThreshold(FingerprintTag(lines[i])), 0)) {
      lines[i] = SecondaryLine(view, slot, EquationOf(hashes[i]));
      __builtin_prefetch(lines[i], 0, 1);
      __builtin_prefetch(lines[i] + kLineBytes - 1, 0, 1);
    }
  }
  for (size_t i = 0; i < count; ++i) {
    may_match[i] = LineMatches<kHeaderWords>(lines[i], FingerprintTag(lines[i]), view.planes,
                                             EquationOf(hashes[i]));
  }
}

// Indexed by the number of header words.
constexpr LookupKernel kLookups[] = {{},
                                     {},
                                     {&MatchKey<2>, &MatchKeys<2>, &MatchOneHash<2>},
                                     {&MatchKey<3>, &MatchKeys<3>, &MatchOneHash<3>},
                                     {&MatchKey<4>, &MatchKeys<4>, &MatchOneHash<4>},
                                     {&MatchKey<5>, &MatchKeys<5>, &MatchOneHash<5>}};

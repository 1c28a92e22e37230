// The bytes of a cuckoo filter block: the one writer and the one reader of the format that
// FORMAT.md describes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "src/filter/cpu_kernel.h"
#include "src/filter/line_layout.h"
#include "src/filter/lookup.h"

namespace tieredfilter {

// The byte five from the end of every block of ours says which form it has: whole lines, or the
// short form for few keys. Stock RocksDB takes either for a filter it does not know and answers
// "may match"; they are far from the values stock filters use (-1 and -2 so far).
inline constexpr unsigned char kBlockMarker = 0xa5;
inline constexpr unsigned char kShortBlockMarker = 0xa4;
constexpr bool IsBlockMarker(unsigned char byte) {
  return byte == kBlockMarker || byte == kShortBlockMarker;
}
inline constexpr size_t kTrailerBytes = 28;
inline constexpr size_t kShortTrailerBytes = 15;
// Versions of the format that FORMAT.md lists: of blocks of whole lines, which store it, and of
// short ones, where the marker stands for it.
inline constexpr uint8_t kFormatVersion = 4;
inline constexpr uint8_t kShortFormatVersion = 2;
inline constexpr uint8_t kUnknownLevel = 0xff;

enum class BlockCoding : uint8_t { kEquations = 1, kFingerprints = 2 };

// What a block says about itself.
struct BlockMetadata {
  BlockCoding coding = BlockCoding::kEquations;
  uint8_t planes = 0;  // of the lower kind; fingerprints: bits of a remainder
  uint8_t salt = 0;
  uint8_t short_lines = 0;  // lines of a short block; 0: whole lines
  // Share of lines with one more plane, in 1/255; fingerprints: BuiltFingerprints::occupancy. Not
  // stored in a short block, whose few lines say it.
  uint8_t more_share = 0;
  uint32_t keys = 0;
  uint8_t level = kUnknownLevel;  // at creation; short blocks do not tell levels from 63 on
  uint16_t asked_millibits = 0;   // per key; 0: a rate was asked for, or not known
  uint32_t solution = 0;          // of the memory budget's solver; 0: none
  // Not stored: follows from the block's size.
  size_t data_bytes = 0;

  bool is_short() const { return short_lines != 0; }
  size_t trailer_bytes() const { return is_short() ? kShortTrailerBytes : kTrailerBytes; }
  // False-positive rate by construction; 1 for no keys.
  double fp_rate() const;
};

// True if this is a block of ours that is whole, of a version and coding this code knows, and
// consistent; only then may its content be used to say "no match". For anything else, hostile bytes
// included, false. Reads only [data, data+size).
bool ParseBlock(const char* data, size_t size, BlockMetadata* metadata);

// Writes the trailer at data + metadata.data_bytes; there must be room for
// metadata.trailer_bytes().
void WriteTrailer(const BlockMetadata& metadata, char* data);

// What a builder is asked for.
struct BlockRequest {
  BlockCoding coding = BlockCoding::kEquations;
  double bits_per_key = 10;  // 4..24, really stored
  uint8_t level = kUnknownLevel;
  uint16_t asked_millibits = 0;
  uint32_t solution = 0;
  // False: whole lines even for few keys. For tests of those; nothing else is gained by it.
  bool may_be_short = true;
};

// Bytes of the trailer that a block for so many distinct keys has.
size_t TrailerBytes(size_t keys, const BlockRequest& request);

// Bytes of a block for so many distinct keys. Monotone in `keys`; what BuildBlock then writes has
// exactly this size.
size_t BlockBytes(size_t keys, const BlockRequest& request);

// The false-positive rate to expect of that block, before it is built. Exact for equations; for
// fingerprints see FingerprintRateForBits.
double ExpectedRate(size_t keys, const BlockRequest& request);

// The bits per key that a large block needs for a false-positive rate (0 < rate < 1), within the
// coding's limits; *rate_is_met says whether those cut it.
double BitsForRate(BlockCoding coding, double fp_rate, bool* rate_is_met = nullptr);

struct BuiltBlock {
  std::unique_ptr<char[]> data;
  size_t size = 0;
  BlockMetadata metadata;
  bool ok = false;  // false: placement failed, and `data` is a block that matches everything
  uint32_t attempts = 0;
  size_t keys_given = 0;  // keys living in their secondary line
};

// Builds the block for hashes[0, n) (HashKey values; need not be distinct). Reorders `hashes` in
// place: on return the first metadata.keys of them are the distinct ones. The same hashes give the
// same bytes on every machine. Throws only std::bad_alloc.
BuiltBlock BuildBlock(uint64_t* hashes, size_t n, const BlockRequest& request, CpuKernel kernel);

// A filter ready for lookups. Borrows the block's bytes, which must outlive it. Immutable: any
// number of threads.
class BlockReader {
 public:
  // Never fails: a block that is not proven whole matches everything.
  BlockReader(const char* data, size_t size, CpuKernel kernel);
  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;

  // True if lookups can ever answer "no".
  bool filters() const { return lines_.count > 0; }
  const BlockMetadata& metadata() const { return metadata_; }

  bool MayMatch(const char* key, size_t size) const { return match_key_(lines_, key, size); }
  bool HashMayMatch(uint64_t hash) const { return match_hash_(lines_, hash); }
  // count <= kMaxBatch.
  void MayMatch(const KeyView* keys, size_t count, bool* may_match) const {
    match_keys_(lines_, keys, count, may_match);
  }

 private:
  void Use(const LookupKernel& kernel);

  // What a lookup needs comes first and fills 40 bytes: with what its owner has in front one cache
  // line, where there are so many filters that readers are not cached either.
  decltype(LookupKernel::match_key) match_key_;
  decltype(LookupKernel::match_keys) match_keys_;
  LinesView lines_;
  decltype(LookupKernel::match_hash) match_hash_;
  BlockMetadata metadata_;
};

}  // namespace tieredfilter

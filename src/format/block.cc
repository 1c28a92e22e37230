#include "src/format/block.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "src/filter/cuckoo_geometry.h"
#include "src/filter/equations_builder.h"
#include "src/filter/fingerprint_builder.h"
#include "src/filter/fingerprint_line.h"
#include "src/filter/fingerprint_lookup.h"
#include "src/filter/hash_sort.h"
#include "src/filter/key_hash.h"
#include "src/filter/short_line.h"

namespace tieredfilter {

namespace {

// Offsets in the trailer; see FORMAT.md.
constexpr size_t kMagicAt = 0, kVersionAt = 2, kCodingAt = 3, kPlanesAt = 4, kSaltAt = 5,
                 kShortColumnsAt = 6, kMoreShareAt = 7, kKeysAt = 8, kLevelAt = 12, kAskedAt = 13,
                 kSolutionAt = 15, kChecksumAt = 19, kMarkerAt = 23;
constexpr uint16_t kMagic = 0x4654;  // "TF"

void Put(char* p, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) p[i] = static_cast<char>(value >> (8 * i));
}

uint64_t Get(const char* p, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= uint64_t{static_cast<unsigned char>(p[i])} << (8 * i);
  return value;
}

// Covers the metadata and, through the seed, the block's length: a truncated or padded block is not
// whole.
uint32_t Checksum(const char* trailer, size_t data_bytes) {
  return static_cast<uint32_t>(XXH3_64bits_withSeed(trailer, kChecksumAt, data_bytes));
}

bool WholeLines(size_t data_bytes) {
  return data_bytes > 0 && data_bytes % kLineBytes == 0 && data_bytes / kLineBytes <= kMaxLines;
}

bool Consistent(const BlockMetadata& m) {
  if (m.keys == 0) return m.data_bytes == 0;
  if (m.coding == BlockCoding::kFingerprints) {
    return m.planes >= kMinRemainderBits && m.planes <= kMaxRemainderBits && m.short_columns == 0 &&
           WholeLines(m.data_bytes);
  }
  if (m.planes < kMinPlanes || m.planes > kMaxPlanes) return false;
  if (m.short_columns != 0) {
    return m.short_columns <= std::min(LineColumns(m.planes), kWordColumns) && m.more_share == 0 &&
           m.data_bytes == (size_t{m.planes} * m.short_columns + 7) / 8;
  }
  return WholeLines(m.data_bytes);
}

// Bytes of the lines for so many distinct keys.
size_t DataBytes(size_t keys, const BlockRequest& request) {
  if (keys == 0) return 0;
  if (request.coding == BlockCoding::kFingerprints) {
    return size_t{FingerprintLines(keys, request.bits_per_key)} * kLineBytes;
  }
  return GeometryForBits(keys, request.bits_per_key).data_bytes();
}

// These two fill the lines of block->data, which has room for DataBytes(n, request), and what the
// metadata says about them. They return the salt that the hashes then have.
uint8_t BuildEquationsData(uint64_t* hashes, size_t n, const BlockRequest& request,
                           CpuKernel kernel, BuiltBlock* block) {
  const CuckooGeometry geometry = GeometryForBits(n, request.bits_per_key);
  const BuiltLines built =
      BuildEquations(hashes, n, request.bits_per_key, geometry, kernel, block->data.get());
  block->ok = built.ok;
  block->attempts = built.attempts;
  block->keys_given = built.keys_given;
  if (built.ok) {
    BlockMetadata& m = block->metadata;
    m.planes = built.planes;
    m.salt = built.salt;
    m.short_columns = static_cast<uint8_t>(geometry.short_columns);
    m.more_share = static_cast<uint8_t>(std::lround(255.0 * built.more / geometry.lines));
  }
  return built.salt;
}

uint8_t BuildFingerprintsData(uint64_t* hashes, size_t n, const BlockRequest& request,
                              BuiltBlock* block) {
  const uint32_t lines = FingerprintLines(n, request.bits_per_key);
  const BuiltFingerprints built = BuildFingerprints(hashes, n, lines, block->data.get());
  block->ok = built.ok;
  block->attempts = built.attempts;
  block->keys_given = built.keys_given;
  if (built.ok) {
    block->metadata.planes = built.remainder_bits;
    block->metadata.salt = built.salt;
    block->metadata.more_share = built.occupancy;
  }
  return built.salt;
}

}  // namespace

double BlockMetadata::fp_rate() const {
  if (keys == 0) return 1.0;
  if (coding == BlockCoding::kFingerprints) {
    return std::ldexp(more_share / 128.0, -static_cast<int>(planes));
  }
  return std::ldexp(1.0 - more_share / 510.0, -static_cast<int>(planes));
}

bool ParseBlock(const char* data, size_t size, BlockMetadata* metadata) {
  if (data == nullptr || size < kTrailerBytes) return false;
  const char* t = data + size - kTrailerBytes;
  static constexpr char kMarkerBytes[5] = {static_cast<char>(kBlockMarker), 0, 0, 0, 0};
  if (std::memcmp(t + kMarkerAt, kMarkerBytes, sizeof(kMarkerBytes)) != 0) return false;
  if (Get(t + kMagicAt, 2) != kMagic || Get(t + kVersionAt, 1) != kFormatVersion) return false;
  BlockMetadata m;
  m.data_bytes = size - kTrailerBytes;
  if (Get(t + kChecksumAt, 4) != Checksum(t, m.data_bytes)) return false;
  m.coding = static_cast<BlockCoding>(Get(t + kCodingAt, 1));
  if (m.coding != BlockCoding::kEquations && m.coding != BlockCoding::kFingerprints) return false;
  m.planes = static_cast<uint8_t>(Get(t + kPlanesAt, 1));
  m.salt = static_cast<uint8_t>(Get(t + kSaltAt, 1));
  m.short_columns = static_cast<uint8_t>(Get(t + kShortColumnsAt, 1));
  m.more_share = static_cast<uint8_t>(Get(t + kMoreShareAt, 1));
  m.keys = static_cast<uint32_t>(Get(t + kKeysAt, 4));
  m.level = static_cast<uint8_t>(Get(t + kLevelAt, 1));
  m.asked_millibits = static_cast<uint16_t>(Get(t + kAskedAt, 2));
  m.solution = static_cast<uint32_t>(Get(t + kSolutionAt, 4));
  if (!Consistent(m)) return false;
  *metadata = m;
  return true;
}

void WriteTrailer(const BlockMetadata& m, char* data) {
  char* t = data + m.data_bytes;
  Put(t + kMagicAt, kMagic, 2);
  Put(t + kVersionAt, kFormatVersion, 1);
  Put(t + kCodingAt, static_cast<uint64_t>(m.coding), 1);
  Put(t + kPlanesAt, m.planes, 1);
  Put(t + kSaltAt, m.salt, 1);
  Put(t + kShortColumnsAt, m.short_columns, 1);
  Put(t + kMoreShareAt, m.more_share, 1);
  Put(t + kKeysAt, m.keys, 4);
  Put(t + kLevelAt, m.level, 1);
  Put(t + kAskedAt, m.asked_millibits, 2);
  Put(t + kSolutionAt, m.solution, 4);
  Put(t + kChecksumAt, Checksum(t, m.data_bytes), 4);
  Put(t + kMarkerAt, kBlockMarker, 5);
}

size_t BlockBytes(size_t keys, const BlockRequest& request) {
  return DataBytes(keys, request) + kTrailerBytes;
}

double ExpectedRate(size_t keys, const BlockRequest& request) {
  if (keys == 0) return 1.0;
  if (request.coding == BlockCoding::kFingerprints) {
    return FingerprintRateForBits(static_cast<double>(DataBytes(keys, request)) * 8 /
                                  static_cast<double>(keys));
  }
  return GeometryForBits(keys, request.bits_per_key).fp_rate();
}

double BitsForRate(BlockCoding coding, double fp_rate, bool* rate_is_met) {
  return coding == BlockCoding::kFingerprints ? FingerprintBitsForRate(fp_rate, rate_is_met)
                                              : BitsForRate(fp_rate, rate_is_met);
}

BuiltBlock BuildBlock(uint64_t* hashes, size_t n, const BlockRequest& request, CpuKernel kernel) {
  n = SortUnique(hashes, n);
  BuiltBlock block;
  BlockMetadata& m = block.metadata;
  m.coding = request.coding;
  m.level = request.level;
  m.asked_millibits = request.asked_millibits;
  m.solution = request.solution;
  if (n > 0 && n <= UINT32_MAX) {
    m.data_bytes = DataBytes(n, request);
    block.data.reset(new char[m.data_bytes + kTrailerBytes]);
    const uint8_t salt = m.coding == BlockCoding::kFingerprints
                             ? BuildFingerprintsData(hashes, n, request, &block)
                             : BuildEquationsData(hashes, n, request, kernel, &block);
    if (block.ok) m.keys = static_cast<uint32_t>(n);
    for (size_t i = 0; i < n; ++i) hashes[i] = UnsaltHash(hashes[i], salt);
  } else {
    block.ok = n == 0;
  }
  if (m.keys == 0) {
    // No keys, or no placement: a bare trailer, which matches everything. (Stock writes a filter
    // that matches nothing for no keys; but a file may hold range tombstones, and one wrong "no"
    // costs more than a few reads.)
    m.data_bytes = 0;
    block.data.reset(new char[kTrailerBytes]);
  }
  WriteTrailer(m, block.data.get());
  block.size = m.data_bytes + kTrailerBytes;
  return block;
}

namespace {

// For blocks that say nothing: the functions of a filter that matches everything.
bool MatchAnyKey(const LinesView&, const char*, size_t) { return true; }
bool MatchAnyHash(const LinesView&, uint64_t) { return true; }
void MatchAllKeys(const LinesView&, const KeyView*, size_t count, bool* may_match) {
  std::fill(may_match, may_match + count, true);
}

}  // namespace

BlockReader::BlockReader(const char* data, size_t size, CpuKernel kernel)
    : kernel_{&MatchAnyKey, &MatchAllKeys, &MatchAnyHash} {
  if (!ParseBlock(data, size, &metadata_) || metadata_.keys == 0) return;
  lines_.planes = metadata_.planes;
  lines_.salt = metadata_.salt;
  if (metadata_.short_columns != 0) {
    short_line_ = std::make_unique<ShortLine>();
    ExpandShortLine(data, metadata_.planes, metadata_.short_columns, short_line_->bytes);
    lines_.lines = short_line_->bytes;
    lines_.count = 1;
  } else {
    lines_.lines = data;
    lines_.count = static_cast<uint32_t>(metadata_.data_bytes / kLineBytes);
  }
  kernel_ =
      metadata_.coding == BlockCoding::kFingerprints
          ? FingerprintLookupFor(kernel, metadata_.planes)
          : LookupFor(kernel, metadata_.planes, metadata_.salt != 0, metadata_.more_share / 255.0);
}

}  // namespace tieredfilter

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
#include "src/filter/short_builder.h"
#include "src/filter/short_geometry.h"
#include "src/filter/short_lookup.h"

namespace tieredfilter {

namespace {

// Offsets in the trailer; see FORMAT.md.
constexpr size_t kMagicAt = 0, kVersionAt = 2, kCodingAt = 3, kPlanesAt = 4, kSaltAt = 5,
                 kReservedAt = 6, kMoreShareAt = 7, kKeysAt = 8, kLevelAt = 12, kAskedAt = 13,
                 kSolutionAt = 15, kChecksumAt = 19, kMarkerAt = 23;
constexpr uint16_t kMagic = 0x4654;  // "TF"
// And in a short block's.
constexpr size_t kShortSaltAt = 0, kShapeAt = 1, kKeysAndLevelAt = 2, kShortAskedAt = 4,
                 kShortSolutionAt = 6, kShortMarkerAt = 10, kShortChecksumAt = 11;
constexpr int kShapePlanesBits = 5, kShortKeysBits = 10;
constexpr uint8_t kShortUnknownLevel = 63;  // as deeper ones
static_assert(kMaxPlanes < (1 << kShapePlanesBits) && kMaxShortLines == 8,
              "planes and lines share a byte");
static_assert(kMaxShortKeys < (1 << kShortKeysBits), "keys and level share two bytes");
static_assert(kShortTrailerBytes >= kShortReadAhead, "a lookup would read beyond the block");

void Put(char* p, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) p[i] = static_cast<char>(value >> (8 * i));
}

uint64_t Get(const char* p, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= uint64_t{static_cast<unsigned char>(p[i])} << (8 * i);
  return value;
}

// Covers the metadata before it and, through the seed, the block's length: a truncated or padded
// block is not whole.
uint32_t Checksum(const char* trailer, size_t checksum_at, size_t data_bytes) {
  return static_cast<uint32_t>(XXH3_64bits_withSeed(trailer, checksum_at, data_bytes));
}

// BlockMetadata::more_share.
uint8_t ShareOf(uint32_t more, uint32_t lines) {
  return static_cast<uint8_t>(std::lround(255.0 * more / lines));
}

bool WholeLines(size_t data_bytes) {
  return data_bytes > 0 && data_bytes % kLineBytes == 0 && data_bytes / kLineBytes <= kMaxLines;
}

bool PlanesExist(uint32_t planes) { return planes >= kMinPlanes && planes <= kMaxPlanes; }

bool Consistent(const BlockMetadata& m) {
  if (m.keys == 0) return m.data_bytes == 0;
  if (!WholeLines(m.data_bytes)) return false;
  if (m.coding == BlockCoding::kFingerprints) {
    return m.planes >= kMinRemainderBits && m.planes <= kMaxRemainderBits;
  }
  return PlanesExist(m.planes);
}

LinesView ShortView(const char* data, const BlockMetadata& m) {
  LinesView view;
  view.lines = data;
  view.count = m.short_lines;
  view.planes = m.planes;
  view.salt = m.salt;
  view.stride = static_cast<uint16_t>(m.data_bytes / m.short_lines);
  for (uint32_t more = 0; more < 2; ++more) {
    view.columns[more] =
        static_cast<uint8_t>(ShortColumns(m.short_lines, view.stride, m.planes + more));
  }
  return view;
}

bool ConsistentShort(const BlockMetadata& m) {
  if (m.keys == 0) return m.data_bytes == 0;
  if (!PlanesExist(m.planes)) return false;
  // Every plane of every kind of line has a column. (A lone line has no tag, hence no second kind.)
  const size_t stride = m.data_bytes / m.short_lines;
  return stride > 0 && stride <= UINT16_MAX &&
         ShortColumns(m.short_lines, stride, m.planes + (m.short_lines > 1)) > 0;
}

bool ParseShortTrailer(const char* data, size_t size, BlockMetadata* metadata) {
  const char* t = data + size - kShortTrailerBytes;
  BlockMetadata m;
  m.data_bytes = size - kShortTrailerBytes;
  if (Get(t + kShortChecksumAt, 4) != Checksum(t, kShortChecksumAt, m.data_bytes)) return false;
  const uint64_t shape = Get(t + kShapeAt, 1);
  m.planes = static_cast<uint8_t>(shape & LowBits(kShapePlanesBits));
  m.short_lines = static_cast<uint8_t>((shape >> kShapePlanesBits) + 1);
  m.salt = static_cast<uint8_t>(Get(t + kShortSaltAt, 1));
  const uint64_t keys_and_level = Get(t + kKeysAndLevelAt, 2);
  m.keys = static_cast<uint32_t>(keys_and_level & LowBits(kShortKeysBits));
  m.level = static_cast<uint8_t>(keys_and_level >> kShortKeysBits);
  if (m.level == kShortUnknownLevel) m.level = kUnknownLevel;
  m.asked_millibits = static_cast<uint16_t>(Get(t + kShortAskedAt, 2));
  m.solution = static_cast<uint32_t>(Get(t + kShortSolutionAt, 4));
  if (!ConsistentShort(m)) return false;
  uint32_t more = 0;
  for (uint32_t line = 0; m.keys > 0 && m.short_lines > 1 && line < m.short_lines; ++line) {
    more += Get(data + line * (m.data_bytes / m.short_lines), 1) >> 7;
  }
  m.more_share = ShareOf(more, m.short_lines);
  *metadata = m;
  return true;
}

void WriteShortTrailer(const BlockMetadata& m, char* t) {
  Put(t + kShortSaltAt, m.salt, 1);
  Put(t + kShapeAt, m.planes | (m.short_lines - 1) << kShapePlanesBits, 1);
  Put(t + kKeysAndLevelAt, m.keys | std::min(m.level, kShortUnknownLevel) << kShortKeysBits, 2);
  Put(t + kShortAskedAt, m.asked_millibits, 2);
  Put(t + kShortSolutionAt, m.solution, 4);
  Put(t + kShortMarkerAt, kShortBlockMarker, 1);
  Put(t + kShortChecksumAt, Checksum(t, kShortChecksumAt, m.data_bytes), 4);
}

bool IsShort(size_t keys, const BlockRequest& request) {
  return request.coding == BlockCoding::kEquations && request.may_be_short && keys <= kMaxShortKeys;
}

// Bytes of the lines for so many distinct keys.
size_t DataBytes(size_t keys, const BlockRequest& request) {
  if (keys == 0) return 0;
  if (request.coding == BlockCoding::kFingerprints) {
    return size_t{FingerprintLines(keys, request.bits_per_key)} * kLineBytes;
  }
  if (IsShort(keys, request)) return ShortGeometryFor(keys, request.bits_per_key).data_bytes;
  return GeometryForBits(keys, request.bits_per_key).data_bytes();
}

// These two fill the lines of block->data, which has room for DataBytes(n, request), and what the
// metadata says about them. They return the salt that the hashes then have.
uint8_t BuildEquationsData(uint64_t* hashes, size_t n, const BlockRequest& request,
                           CpuKernel kernel, BuiltBlock* block) {
  BlockMetadata& m = block->metadata;
  const double bits = request.bits_per_key;
  const BuiltLines built = m.is_short() ? BuildShort(hashes, n, bits, block->data.get())
                                        : BuildEquations(hashes, n, bits, GeometryForBits(n, bits),
                                                         kernel, block->data.get());
  block->ok = built.ok;
  block->attempts = built.attempts;
  block->keys_given = built.keys_given;
  if (built.ok) {
    m.planes = built.planes;
    m.salt = built.salt;
    if (m.is_short()) m.short_lines = static_cast<uint8_t>(built.lines);
    m.more_share = ShareOf(built.more, built.lines);
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
  if (data == nullptr || size < kShortTrailerBytes) return false;
  if (Get(data + size - (kShortTrailerBytes - kShortMarkerAt), 1) == kShortBlockMarker) {
    return ParseShortTrailer(data, size, metadata);
  }
  if (size < kTrailerBytes) return false;
  const char* t = data + size - kTrailerBytes;
  static constexpr char kMarkerBytes[5] = {static_cast<char>(kBlockMarker), 0, 0, 0, 0};
  if (std::memcmp(t + kMarkerAt, kMarkerBytes, sizeof(kMarkerBytes)) != 0) return false;
  if (Get(t + kMagicAt, 2) != kMagic || Get(t + kVersionAt, 1) != kFormatVersion) return false;
  if (Get(t + kReservedAt, 1) != 0) return false;
  BlockMetadata m;
  m.data_bytes = size - kTrailerBytes;
  if (Get(t + kChecksumAt, 4) != Checksum(t, kChecksumAt, m.data_bytes)) return false;
  m.coding = static_cast<BlockCoding>(Get(t + kCodingAt, 1));
  if (m.coding != BlockCoding::kEquations && m.coding != BlockCoding::kFingerprints) return false;
  m.planes = static_cast<uint8_t>(Get(t + kPlanesAt, 1));
  m.salt = static_cast<uint8_t>(Get(t + kSaltAt, 1));
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
  if (m.is_short()) {
    WriteShortTrailer(m, t);
    return;
  }
  Put(t + kMagicAt, kMagic, 2);
  Put(t + kVersionAt, kFormatVersion, 1);
  Put(t + kCodingAt, static_cast<uint64_t>(m.coding), 1);
  Put(t + kPlanesAt, m.planes, 1);
  Put(t + kSaltAt, m.salt, 1);
  Put(t + kReservedAt, 0, 1);
  Put(t + kMoreShareAt, m.more_share, 1);
  Put(t + kKeysAt, m.keys, 4);
  Put(t + kLevelAt, m.level, 1);
  Put(t + kAskedAt, m.asked_millibits, 2);
  Put(t + kSolutionAt, m.solution, 4);
  Put(t + kChecksumAt, Checksum(t, kChecksumAt, m.data_bytes), 4);
  Put(t + kMarkerAt, kBlockMarker, 5);
}

size_t TrailerBytes(size_t keys, const BlockRequest& request) {
  return IsShort(keys, request) ? kShortTrailerBytes : kTrailerBytes;
}

size_t BlockBytes(size_t keys, const BlockRequest& request) {
  return DataBytes(keys, request) + TrailerBytes(keys, request);
}

double ExpectedRate(size_t keys, const BlockRequest& request) {
  if (keys == 0) return 1.0;
  if (request.coding == BlockCoding::kFingerprints) {
    return FingerprintRateForBits(static_cast<double>(DataBytes(keys, request)) * 8 /
                                  static_cast<double>(keys));
  }
  if (IsShort(keys, request)) return ShortGeometryFor(keys, request.bits_per_key).fp_rate();
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
  m.short_lines = IsShort(n, request) ? 1 : 0;  // how many, the build decides
  if (n > 0 && n <= UINT32_MAX) {
    m.data_bytes = DataBytes(n, request);
    block.data.reset(new char[m.data_bytes + m.trailer_bytes()]);
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
    block.data.reset(new char[m.trailer_bytes()]);
  }
  WriteTrailer(m, block.data.get());
  block.size = m.data_bytes + m.trailer_bytes();
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

void BlockReader::Use(const LookupKernel& kernel) {
  match_key_ = kernel.match_key;
  match_keys_ = kernel.match_keys;
  match_hash_ = kernel.match_hash;
}

BlockReader::BlockReader(const char* data, size_t size, CpuKernel kernel) {
  Use({&MatchAnyKey, &MatchAllKeys, &MatchAnyHash});
  if (!ParseBlock(data, size, &metadata_) || metadata_.keys == 0) return;
  if (metadata_.is_short()) {
    lines_ = ShortView(data, metadata_);
    Use(ShortLookupFor(kernel, lines_));
    return;
  }
  lines_.planes = metadata_.planes;
  lines_.salt = metadata_.salt;
  lines_.lines = data;
  lines_.count = metadata_.data_bytes / kLineBytes;
  Use(metadata_.coding == BlockCoding::kFingerprints
          ? FingerprintLookupFor(kernel, metadata_.planes)
          : LookupFor(kernel, metadata_.planes, metadata_.salt != 0, metadata_.more_share / 255.0));
}

}  // namespace tieredfilter

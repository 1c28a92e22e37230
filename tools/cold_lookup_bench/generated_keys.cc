#include "tools/cold_lookup_bench/generated_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::Status;

namespace {

constexpr int kPositionBits = 56;
constexpr uint64_t kPositions = uint64_t{1} << kPositionBits;
constexpr size_t kMaxKeySize = 4096;
constexpr size_t kMaxValueSize = 1 << 20;

size_t DigitsOf(uint64_t prefix_count) {
  return prefix_count > 1 ? fmt::formatted_size("{}", prefix_count - 1) : 0;
}

Status CheckPercent(const char* flag, double percent) {
  return percent >= 0 && percent < 100 ? Status::OK()
                                       : Status::InvalidArgument(fmt::format(
                                             "--{}={}: must lie between 0 and 100", flag, percent));
}

Status CheckSizes(const char* flag, const SizeRange& size, size_t smallest, size_t largest,
                  const std::string& why) {
  if (size.smallest < smallest || size.smallest > largest) {
    return Status::InvalidArgument(fmt::format("--{}={}: must lie between {}{} and {}", flag,
                                               size.smallest, smallest, why, largest));
  }
  if (size.largest < size.smallest || size.largest > largest) {
    return Status::InvalidArgument(fmt::format("--{}_max={}: must lie between --{}={} and {}", flag,
                                               size.largest, flag, size.smallest, largest));
  }
  return Status::OK();
}

}  // namespace

size_t GeneratedData::PrefixSize() const { return key_prefix.size() + DigitsOf(prefix_count); }

Status CheckGeneratedData(const GeneratedData& data) {
  if (data.prefix_count < 1 || data.prefix_count > (uint64_t{1} << 32)) {
    return Status::InvalidArgument(
        fmt::format("--prefix_count={}: must lie between 1 and 2^32", data.prefix_count));
  }
  const size_t prefix = data.PrefixSize();
  Status s = CheckSizes("key_size", data.key_size, prefix + kRandomKeyPart, kMaxKeySize,
                        prefix == 0 ? "" : " (prefix and 8 random bytes)");
  if (s.ok()) {
    s = CheckSizes("value_size", data.value_size, 8, kMaxValueSize,
                   ", so that a wrong value shows,");
  }
  if (s.ok()) {
    s = CheckPercent("update_percent", data.update_percent);
  }
  if (s.ok()) {
    s = CheckPercent("delete_percent", data.delete_percent);
  }
  return s.ok() ? CheckPercent("update_percent + --delete_percent",
                               data.update_percent + data.delete_percent)
                : s;
}

GeneratedKeys::GeneratedKeys(const TreePlan& tree, uint64_t seed, const GeneratedData& data)
    : KeySpace(tree, seed, data.value_size), data_(data), digits_(DigitsOf(data.prefix_count)) {
  end_absent_ = kPositions;
  for (size_t run = 0; run < plan().runs.size(); ++run) {
    first_absent_ = std::max(first_absent_, PositionOf({run, 0}) + 1);
    end_absent_ = std::min(end_absent_, PositionOf({run, plan().runs[run].entries - 1}));
  }
}

GeneratedKeys::GeneratedKeys(const TreePlan& tree, uint64_t seed, size_t key_size,
                             size_t value_size)
    : GeneratedKeys(tree, seed, {{key_size, key_size}, {value_size, value_size}, "", 1, 0, 0}) {}

uint64_t GeneratedKeys::StretchOf(size_t run) const {
  return kPositions / plan().runs[run].entries;
}

uint64_t GeneratedKeys::OwnPosition(EntryPlace place) const {
  const uint64_t stretch = StretchOf(place.run);
  return place.index * stretch + ScaleTo(Random(kPosition, place.run, place.index), stretch);
}

GeneratedKeys::Role GeneratedKeys::RoleOf(EntryPlace place) const {
  Role role;
  if (place.run == 0 || data_.update_percent + data_.delete_percent == 0) {
    return role;
  }
  const double percent =
      100 * std::ldexp(static_cast<double>(Random(kKind, place.run, place.index) >> 11), -53);
  if (percent >= data_.update_percent + data_.delete_percent) {
    return role;
  }
  // Only keys whose whole stretch lies inside the stretch of this entry, so that keys ascend.
  const uint64_t stretch = StretchOf(place.run);
  const uint64_t old_stretch = StretchOf(0);
  const uint64_t first = (place.index * stretch + old_stretch - 1) / old_stretch;
  const uint64_t end = std::min((place.index + 1) * stretch / old_stretch, plan().runs[0].entries);
  if (first >= end) {
    return role;
  }
  role.own_key = false;
  role.kind = percent < data_.delete_percent ? EntryKind::kDelete : EntryKind::kPut;
  role.target = first + ScaleTo(Random(kTarget, place.run, place.index), end - first);
  return role;
}

uint64_t GeneratedKeys::PositionOf(EntryPlace place) const {
  const Role role = RoleOf(place);
  return OwnPosition(role.own_key ? place : EntryPlace{0, role.target});
}

void GeneratedKeys::Encode(uint64_t position, uint64_t tag, std::string* key) const {
  const uint64_t number = (position << (64 - kPositionBits)) | tag;
  *key = data_.key_prefix;
  if (digits_ > 0) {
    // Ascends with the position and has the same length everywhere, so the order of keys stays.
    const uint64_t prefix = ScaleTo(position << (64 - kPositionBits), data_.prefix_count);
    key->append(fmt::format("{:0{}}", prefix, digits_));
  }
  for (int shift = 56; shift >= 0; shift -= 8) {
    key->push_back(static_cast<char>(number >> shift));
  }
  // As db_bench pads its keys.
  key->resize(data_.key_size.Pick(Random(kSize, 0, number)), '0');
}

void GeneratedKeys::EntryKey(EntryPlace place, std::string* key) const {
  const Role role = RoleOf(place);
  if (role.own_key) {
    Encode(OwnPosition(place), place.run + 1, key);
  } else {
    Encode(OwnPosition({0, role.target}), 1, key);
  }
}

EntryKind GeneratedKeys::KindOf(EntryPlace place) const { return RoleOf(place).kind; }

EntryPlace GeneratedKeys::NewestOf(EntryPlace place) const {
  if (data_.update_percent + data_.delete_percent == 0) {
    return place;
  }
  const Role role = RoleOf(place);
  if (role.own_key && place.run > 0) {
    return place;  // only keys of the oldest run are written again
  }
  const uint64_t old_index = role.own_key ? place.index : role.target;
  const uint64_t position = OwnPosition({0, old_index});
  for (size_t run = plan().runs.size() - 1; run > 0; --run) {
    const EntryPlace candidate{run, position / StretchOf(run)};
    if (candidate.index >= plan().runs[run].entries) {
      continue;
    }
    const Role found = RoleOf(candidate);
    if (!found.own_key && found.target == old_index) {
      return candidate;
    }
  }
  return {0, old_index};
}

void GeneratedKeys::AbsentKey(uint64_t number, std::string* key) const {
  const uint64_t range = end_absent_ - first_absent_;
  Encode(first_absent_ + ScaleTo(Random(kAbsent, 0, number), range), 0, key);
}

}  // namespace tieredfilter::cold_lookup

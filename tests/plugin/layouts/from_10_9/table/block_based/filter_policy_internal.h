// A stand-in for RocksDB's internal header of the same path in its third layout (10.9 and later),
// for trees of that version are in no Debian package. Only the declarations that the adapter relies
// on, written from the interface: every function pure virtual that is pure virtual there, and no
// BuiltinFilterBitsBuilder. Compiled against, never linked. tools/check/check_rocksdb_layouts.sh
// uses it.
#pragma once

#include <cstddef>
#include <memory>

#include "rocksdb/filter_policy.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

class FilterBitsBuilder {
 public:
  virtual ~FilterBitsBuilder() = default;
  virtual void AddKey(const Slice& key) = 0;
  virtual void AddKeyAndAlt(const Slice& key, const Slice& alt) = 0;
  virtual size_t EstimateEntriesAdded() = 0;
  virtual Slice Finish(std::unique_ptr<const char[]>* buf) = 0;
  virtual Slice Finish(std::unique_ptr<const char[]>* buf, Status* /*status*/) {
    return Finish(buf);
  }
  virtual Status MaybePostVerify(const Slice& /*filter_content*/) { return Status::OK(); }
  virtual size_t ApproximateNumEntries(size_t bytes) = 0;
  virtual size_t CalculateSpace(size_t num_entries) = 0;
  virtual double EstimatedFpRate(size_t num_entries, size_t bytes) = 0;
};

class FilterBitsReader {
 public:
  virtual ~FilterBitsReader() = default;
  virtual bool MayMatch(const Slice& entry) = 0;
  virtual void MayMatch(int num_keys, Slice** keys, bool* may_match) = 0;
};

class BuiltinFilterBitsReader : public FilterBitsReader {};

class BuiltinFilterPolicy : public FilterPolicy {
 public:
  static BuiltinFilterBitsReader* GetBuiltinFilterBitsReader(const Slice& contents);
};

}  // namespace ROCKSDB_NAMESPACE

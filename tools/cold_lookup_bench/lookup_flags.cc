#include "tools/cold_lookup_bench/lookup_flags.h"

#include <fmt/format.h>
#include <gflags/gflags.h>

#include <string>

DEFINE_uint64(batch_size, 1, "Number of keys per call: 1 uses Get, more use MultiGet");
DEFINE_bool(async_io, false,
            "Set ReadOptions::async_io for MultiGet; a RocksDB built without coroutines, as most "
            "are, reads as without it");
DEFINE_string(distribution, "uniform",
              "Which of the stored keys are looked up: 'uniform'; 'zipfian', few of them most of "
              "the time and spread over all levels; or 'recent', the same with the newest keys as "
              "the popular ones");
DEFINE_double(zipfian_theta, 0.99,
              "Skew of --distribution=zipfian and recent: the n-th most popular key is asked for "
              "in proportion to 1/n^theta; between 0 and 1");
DEFINE_string(cold, "resident",
              "What comes from the device: 'resident', every data block, while indexes and filters "
              "are in memory; 'cache', indexes and filters too, through a block cache of "
              "--cache_mb; 'all', every block of every kind");
DEFINE_double(cache_mb, 0,
              "Size of the block cache for --cold=cache in MiB (1048576 bytes); it holds indexes "
              "and filters, never data");
DEFINE_string(device, "nvme,ssd,hdd,object-store",
              "Devices to model, separated by commas: what a lookup would take there, from the "
              "reads that were counted and the CPU time measured. One of nvme, ssd, hdd, "
              "object-store, or a number of microseconds per read; 'none' for none");

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::Status;

namespace {

Status ReadCold(LookupSettings* flags) {
  if (FLAGS_cold == "resident") {
    flags->cold = Cold::kResident;
  } else if (FLAGS_cold == "cache") {
    flags->cold = Cold::kCache;
  } else if (FLAGS_cold == "all") {
    flags->cold = Cold::kAll;
  } else {
    return Status::InvalidArgument(
        fmt::format("--cold={}: must be 'resident', 'cache' or 'all'", FLAGS_cold));
  }
  const bool wants_size = flags->cold == Cold::kCache;
  if (wants_size && !(FLAGS_cache_mb > 0 && FLAGS_cache_mb <= (1 << 20))) {
    return Status::InvalidArgument(fmt::format(
        "--cache_mb={:g}: --cold=cache needs the size of the cache, more than 0 and at most {}",
        FLAGS_cache_mb, 1 << 20));
  }
  if (!wants_size && FLAGS_cache_mb != 0) {
    return Status::InvalidArgument(
        fmt::format("--cache_mb={:g}: only with --cold=cache", FLAGS_cache_mb));
  }
  flags->cache_bytes = static_cast<uint64_t>(FLAGS_cache_mb * (1 << 20));
  return Status::OK();
}

Status ReadDistribution(LookupFlags* flags) {
  if (FLAGS_distribution == "uniform") {
    flags->distribution = Distribution::kUniform;
  } else if (FLAGS_distribution == "zipfian") {
    flags->distribution = Distribution::kZipfian;
  } else if (FLAGS_distribution == "recent") {
    flags->distribution = Distribution::kRecent;
  } else {
    return Status::InvalidArgument(fmt::format(
        "--distribution={}: must be 'uniform', 'zipfian' or 'recent'", FLAGS_distribution));
  }
  if (!(FLAGS_zipfian_theta > 0 && FLAGS_zipfian_theta < 1)) {
    return Status::InvalidArgument(fmt::format(
        "--zipfian_theta={:g}: must lie between 0 and 1, both excluded", FLAGS_zipfian_theta));
  }
  flags->zipfian_theta = FLAGS_zipfian_theta;
  return Status::OK();
}

}  // namespace

Status ReadLookupFlags(LookupFlags* flags) {
  if (FLAGS_batch_size < 1 || FLAGS_batch_size > 1000000) {
    return Status::InvalidArgument(
        fmt::format("--batch_size={}: must lie between 1 and 1000000", FLAGS_batch_size));
  }
  flags->settings.batch_size = FLAGS_batch_size;
  flags->settings.async_io = FLAGS_async_io;
  Status s = ReadCold(&flags->settings);
  if (s.ok()) {
    s = ReadDistribution(flags);
  }
  return s.ok() ? ParseDevices(FLAGS_device, &flags->settings.devices) : s;
}

}  // namespace tieredfilter::cold_lookup

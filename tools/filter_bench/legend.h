// The text of --legend.
#pragma once

namespace tieredfilter::bench {

constexpr char kLegend[] = R"(filter_bench compares filters alone, without a database.

filter, kernel   kind:bits as requested. For every kind "bits" are bits really stored per key; for
                 ribbon the setting that RocksDB calls bloom_equivalent_bits_per_key is searched so
                 that the block comes out at that size (or just below). The kernel of a stock filter
                 is the instruction set its code was compiled for (portable is what distributions
                 ship), that of ours the one forced by name. cuckoo-equations:=bloom:10 has as many
                 bits as fit into the bytes of bloom:10 with as many keys.
bits/key         8 * block size / keys, everything included.
FPR              measured with keys that no filter holds and that differ from held ones in the
                 lowest bits of a number; behind it twice the standard deviation.
build ns/key     a virtual AddKey per key (with the hash) and Finish. Making the keys is not timed.
  of Bloom 10    ratio to bloom:10, and of Ribbon: to the first ribbon in --filters.
peak B/key       most memory that a build held at once, block and key hashes included, per key.
temporary B/key  the same less the block and 8 bytes per key for the key hashes.
lookup           ns per key and (ratio to bloom:10), hash and virtual call included, for keys that
                 are absent and keys that are present:
  cached           one filter, keys independent of each other. Whether it fits L1, L2 or L3
                   depends on the number of keys.
  many             for each key one of so many filters (--many_mb) that none is cached.
  dependent        one filter; which key is asked depends on the last answer: latency. A kind that
                   branches on its answer lets the processor guess it and go on; this is seen here.
  dependent_many   both: one lookup at a time in a filter that is not cached, as the Gets of one
                   thread make them, with a microsecond of other work between them. (In `many` the
                   processor runs several lookups ahead, which no database lets it do.)
  batch            32 keys in one call of the batched MayMatch, always the same filter.
  batch_cold       32 keys in one call, each call one of many filters.

How: each filter is built and all its keys are looked up, one by one and batched, before anything is
timed; one key missed ends the run. Lookups are timed in groups of 512 whose keys are made just
before, never repeat in a pattern, and stay in L1. Filters take turns every millisecond, starting
with another one each time, so that all of them see the same ups and downs of the machine. A
repetition's time is that of the median group (or build); times are medians over the repetitions; a
ratio is the median of the ratios within the repetitions, and so need not be the ratio of the
printed times. Blocks start --block_offset bytes behind a cache-line boundary: 16 is where glibc's
malloc puts large blocks.
Stock filters are RocksDB's own builders and readers from the source tree, compiled with the same
flags as ours plus those of --stock_isa.

--json: `run` says where the figures come from; `results` is a list with filter, kernel, keys,
bits_per_key, fpr, fpr_sigma, false_negatives, build_ns_per_key, build_ratio, build_ratio_to_ribbon,
build_peak_bytes_per_key, build_temporary_bytes_per_key, and per lookup pattern an object
{negative: {ns, ratio}, positive: {ns, ratio}}.
)";

}  // namespace tieredfilter::bench

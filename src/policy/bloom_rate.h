// How many bits per key RocksDB's Bloom filter needs for a false-positive rate.
#pragma once

namespace tieredfilter {

// The real rate of a large stock Bloom filter (format_version 5 and later, 64-byte blocks) at this
// many bits per key. A model of the filter, not RocksDB's estimate, which is up to a third too good
// at 24 bits: the number of keys in a block is Poisson distributed, and the share of set bits
// within a block varies as well. Against a simulation of the filter it is within 2% up to 24 bits,
// within 5% up to 32, and within 15% at 40.
double BloomRateForBits(double bits_per_key);

// Fewest bits per key (from 1 to 64) with at most this rate by BloomRateForBits.
double BloomBitsForRate(double false_positive_rate);

}  // namespace tieredfilter

// The false-positive rate a stored filter block must have, from its own bits.
#pragma once

#include <string>

namespace tieredfilter::cold_lookup {

// The expected share of absent keys that the filter block `content` lets through, for keys that
// hash at random; a negative number if it cannot be told. Not a model of a filter of that size but
// the rate of this very block: for Bloom the share of set bits in each 64-byte line to the power of
// the number of probes, averaged over the lines; for Ribbon its number of columns. So a measured
// rate can differ from it by chance alone, and by how much is known.
double ExpectedRateOf(const std::string& content);

}  // namespace tieredfilter::cold_lookup

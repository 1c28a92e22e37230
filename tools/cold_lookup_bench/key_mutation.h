// Absent keys that look like keys that are there.
#pragma once

#include <cstdint>
#include <string>

namespace tieredfilter::cold_lookup {

// Changes one character of *key, which must not be empty, to another of its class: a digit to a
// digit, a lower- or upper-case letter to one of the same case. Separators stay, so that a path
// becomes another path. A key without letters and digits gets one byte changed to any other.
// `random` chooses place and character.
void MutateKey(uint64_t random, std::string* key);

}  // namespace tieredfilter::cold_lookup

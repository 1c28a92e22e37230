// How figures are written for people, the same in the text and on the page.
#pragma once

#include <cstdint>
#include <string>

#include "tools/cold_lookup_bench/report.h"

namespace tieredfilter::cold_lookup {

std::string WithUnit(int64_t bytes);             // "9900 B", "791.3 kB", "-1.2 GB"
std::string Short(double value);                 // as many digits as a reader needs
std::string Duration(double nanoseconds);        // "12.3 us", "4.1 ms", "1.20 s"
std::string Signed(std::int64_t value);          // with "+" or "-"; "0"
std::string Plural(uint64_t n, const char* of);  // "1 file", "4 files"

// What all policies had in common, as one or two sentences: the lookups and what was cold.
std::string DescribeLookups(const RunReport& report);

}  // namespace tieredfilter::cold_lookup

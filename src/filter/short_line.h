// Filters of fewer keys than a line holds: one line of which only the first few columns exist,
// stored as a bit string.
//
// A full line's unused columns are zero, so leaving them out loses nothing: what is stored is
// planes x columns bits, plane by plane, about as many columns as keys. A reader spreads them out
// into a full line once and looks up as ever.
#pragma once

#include <cstdint>

namespace tieredfilter {

// `packed` has (planes x columns + 7) / 8 bytes, `line` 64. columns 1..63, planes
// kMinPlanes..kMaxPlanes. The tag becomes 0: no key of a lone line is anywhere else.
void ExpandShortLine(const char* packed, uint32_t planes, uint32_t columns, char* line);
void PackShortLine(const char* line, uint32_t planes, uint32_t columns, char* packed);

}  // namespace tieredfilter

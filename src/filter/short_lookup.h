// Looking keys up in a short filter, see short_layout.h.
#pragma once

#include "src/filter/lookup.h"

namespace tieredfilter {

// The functions for short filters, with a kernel that CpuKernelSupported(). LinesView::stride must
// be set, LinesView::columns be from 1 to what ShortColumns says, and kShortReadAhead bytes be
// readable behind the last line; then any bytes in the lines are safe.
const LookupKernel& ShortLookupFor(CpuKernel kernel, const LinesView& view);

}  // namespace tieredfilter

// The whole run: one tree per policy, lookups, checks, report.
#pragma once

#include "rocksdb/status.h"
#include "tools/cold_lookup_bench/config.h"
#include "tools/cold_lookup_bench/report.h"

namespace tieredfilter::cold_lookup {

// Fills *report. A failure means that there is nothing to report (bad flags, no room, Ctrl-C, ...);
// a run that was made but proves nothing is OK with report->valid false and the reasons in it.
// Temporary databases are removed in any case.
ROCKSDB_NAMESPACE::Status RunDriver(const Config& config, RunReport* report);

}  // namespace tieredfilter::cold_lookup

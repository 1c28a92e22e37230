// Ctrl-C as a request that the loops look at, so that everything temporary is removed on the way
// out.
#pragma once

#include "rocksdb/status.h"

namespace tieredfilter::cold_lookup {

// Takes over SIGINT, SIGTERM and SIGHUP. Ignores SIGXFSZ, so that a file size limit is an error
// like a full disk.
void InstallInterruptHandlers();

bool Interrupted();

// Aborted if a signal came, OK otherwise. Safe to call often and from any thread.
ROCKSDB_NAMESPACE::Status CheckInterrupt();

// The exit code for an interrupted run, 128 + signal number as shells have it.
int InterruptExitCode();

}  // namespace tieredfilter::cold_lookup

#include "tools/cold_lookup_bench/interrupt.h"

#include <csignal>

namespace tieredfilter::cold_lookup {

namespace {

// The only type a signal handler may write to besides lock-free atomics.
volatile std::sig_atomic_t received_signal = 0;

void OnSignal(int signal) { received_signal = signal; }

}  // namespace

void InstallInterruptHandlers() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  // A second signal kills at once, for a user who does not want to wait.
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    sigaction(signal, &action, nullptr);
  }
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &ignore, nullptr);
}

bool Interrupted() { return received_signal != 0; }

ROCKSDB_NAMESPACE::Status CheckInterrupt() {
  return Interrupted() ? ROCKSDB_NAMESPACE::Status::Aborted("interrupted")
                       : ROCKSDB_NAMESPACE::Status::OK();
}

int InterruptExitCode() { return 128 + static_cast<int>(received_signal); }

}  // namespace tieredfilter::cold_lookup

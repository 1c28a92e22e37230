// Counts the reads that filter policies save on lookups of absent keys in cold data. See config.cc
// for the flags.
//
// Exit code: 0 if the run is valid, 1 if it is not or could not be made, 2 for flags that make no
// sense, 128 + n after signal n.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include "tools/cold_lookup_bench/atomic_file.h"
#include "tools/cold_lookup_bench/config.h"
#include "tools/cold_lookup_bench/driver.h"
#include "tools/cold_lookup_bench/interrupt.h"
#include "tools/cold_lookup_bench/report.h"
#include "tools/cold_lookup_bench/verify_database.h"

namespace {

using ROCKSDB_NAMESPACE::Status;
using tieredfilter::cold_lookup::AtomicFile;
using tieredfilter::cold_lookup::Config;
using tieredfilter::cold_lookup::DatabaseVerdict;
using tieredfilter::cold_lookup::RunReport;

int Fail(const Status& status) {
  fmt::print(stderr, "cold_lookup_bench: {}\n", status.ToString());
  if (tieredfilter::cold_lookup::Interrupted()) {
    return tieredfilter::cold_lookup::InterruptExitCode();
  }
  return status.IsInvalidArgument() ? 2 : 1;
}

int Verify(const std::string& path) {
  DatabaseVerdict verdict;
  if (Status s = VerifyDatabase(path, &verdict); !s.ok()) {
    return Fail(s);
  }
  fmt::print("{}", VerdictAsText(path, verdict));
  return verdict.missing == 0 ? 0 : 1;
}

int Run(int argc, char** argv) {
  Config config;
  if (Status s = ParseCommandLine(argc, argv, &config); !s.ok()) {
    return Fail(s);
  }
  tieredfilter::cold_lookup::InstallInterruptHandlers();
  if (config.verify) {
    return Verify(config.db);
  }
  AtomicFile json;
  AtomicFile html;
  AtomicFile csv;
  for (const auto& [file, path] :
       {std::make_pair(&json, config.json), std::make_pair(&html, config.html),
        std::make_pair(&csv, config.csv)}) {
    if (!path.empty()) {
      if (Status s = file->Open(path); !s.ok()) {
        return Fail(s);
      }
    }
  }
  RunReport report;
  if (Status s = RunDriver(config, &report); !s.ok()) {
    return Fail(s);
  }
  fmt::print("{}", ReportAsText(report, config.per_level));
  if (std::fflush(stdout) != 0) {
    return Fail(Status::IOError("cannot write to standard output"));
  }
  if (Status s = json.Commit(ReportAsJson(report)); !s.ok()) {
    return Fail(s);
  }
  if (Status s = html.Commit(ReportAsHtml(report)); !s.ok()) {
    return Fail(s);
  }
  if (report.valid) {
    if (Status s = csv.Commit(ReportAsCsv(report)); !s.ok()) {
      return Fail(s);
    }
  }
  return report.valid ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "cold_lookup_bench: {}\n", e.what());
    return 1;
  }
}

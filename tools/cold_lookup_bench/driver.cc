#include "tools/cold_lookup_bench/driver.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "rocksdb/version.h"
#include "tools/cold_lookup_bench/equalize.h"
#include "tools/cold_lookup_bench/interrupt.h"
#include "tools/cold_lookup_bench/policy_choice.h"
#include "tools/cold_lookup_bench/policy_run.h"
#include "tools/cold_lookup_bench/source_set.h"
#include "tools/cold_lookup_bench/storage.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::Status;

namespace {

void DescribeRun(const Config& config, RunReport* report) {
  report->rocksdb_version = ROCKSDB_NAMESPACE::GetRocksVersionAsString(true);
  report->tool_version = TIEREDFILTER_VERSION;
  report->compiler = __VERSION__;
#ifdef __OPTIMIZE__
  report->optimized_build = true;
#endif
  report->machine = DescribeMachine();
  report->flags = config.flags;
  report->seed = config.seed;
  report->seeds = config.seeds;
  report->absent_percent = config.absent_percent;
  report->lookups = config.lookup.settings;
  if (config.lookup.distribution != Distribution::kUniform) {
    report->popularity = fmt::format("{} with theta {:g}", config.flags.at("distribution"),
                                     config.lookup.zipfian_theta);
  }
  if (config.seeds == 1) {
    report->notes.push_back("a single seed; --seeds=5 shows how far the figures scatter");
  }
}

// What filters saved, relative to the run without them on the same column family, which comes
// first.
void CompareWithNoFilter(RunReport* report) {
  const PolicyReport* none = nullptr;
  for (PolicyReport& policy : report->policies) {
    if (none == nullptr || none->column_family != policy.column_family) {
      none = &policy;
    }
    policy.total.saved = Difference(none->total.counts, policy.total.counts);
    for (auto& [level, figures] : policy.levels) {
      figures.saved = Difference(none->levels.at(level).counts, figures.counts);
    }
  }
}

void Judge(RunReport* report) {
  for (const PolicyReport& policy : report->policies) {
    for (const std::string& disagreement : policy.disagreements) {
      report->reasons.push_back(policy.requested + ": " + disagreement);
    }
    if (policy.total.keys_lost > 0) {
      report->reasons.push_back(fmt::format(
          "{}: {} of {} stored keys were not found, the first is {} (hex)", policy.requested,
          policy.total.keys_lost, policy.keys_checked, policy.first_lost_key));
    }
  }
  if (!report->policies.front().host.process_bytes_known) {
    report->notes.push_back(
        "/proc/self/io is not readable here; that reads were cold rests on O_DIRECT alone");
  }
  report->valid = report->reasons.empty();
}

// Adds one seed's policies to the report: its figures if it is the first, else only what the spread
// needs.
void AddSeed(std::vector<PolicyReport> policies, RunReport* report) {
  if (report->policies.empty()) {
    report->policies = std::move(policies);
    return;
  }
  for (size_t i = 0; i < policies.size(); ++i) {
    PolicyReport& kept = report->policies[i];
    const PolicyReport& added = policies[i];
    kept.wasted_reads_per_lookup.values.push_back(added.WastedReadsPerLookup());
    kept.disagreements.insert(kept.disagreements.end(), added.disagreements.begin(),
                              added.disagreements.end());
    kept.keys_checked += added.keys_checked;
    kept.total.keys_lost += added.total.keys_lost;
    if (kept.first_lost_key.empty()) {
      kept.first_lost_key = added.first_lost_key;
    }
    for (const auto& [level, figures] : added.levels) {
      kept.levels[level].keys_lost += figures.keys_lost;
    }
  }
}

// Measures every policy of a subject and appends to *policies and to the fingerprints of the trees.
Status RunSubject(const Config& config, const Subject& subject, const std::string& folder,
                  std::vector<PolicyReport>* policies, std::string* fingerprints,
                  std::vector<std::string>* notes, std::vector<std::string>* reasons) {
  const KeyPicker picker(config.lookup.distribution, config.lookup.zipfian_theta,
                         subject.source->plan().TotalEntries(), config.seed);
  const Setup setup{config, *subject.source, picker};
  TreeFiles first_files;
  for (size_t i = 0; i < subject.policies.size(); ++i) {
    const PolicyChoice& choice = subject.policies[i];
    ScopedFolder database;
    if (Status s = database.CreateIn(folder, fmt::format("seed-{}-policy-{}.", config.seed, i));
        !s.ok()) {
      return s;
    }
    if (config.keep_db) {
      database.Keep();
    }
    PolicyRun run(setup, choice, database.path());
    if (Status s = run.Run(); !s.ok()) {
      return s;
    }
    policies->push_back(run.TakeReport());
    PolicyReport& report = policies->back();
    report.column_family = subject.column_family;
    if (report.reused) {
      notes->push_back(report.requested + ": the tree of an earlier run was used again");
    }
    if (!subject.column_family.empty()) {
      report.requested = subject.column_family + ": " + report.requested;
    }
    if (i == 0) {
      first_files = run.files();
    } else if (const std::string difference = DescribeDifference(first_files, run.files());
               !difference.empty()) {
      reasons->push_back(fmt::format("{} got another tree than {}: {}", choice.requested,
                                     subject.policies.front().requested, difference));
    }
  }
  *fingerprints += (fingerprints->empty() ? "" : "+") + first_files.Fingerprint();
  return CheckInterrupt();
}

// Tunes the policies of the first seed's trees; the other seeds take them over.
Status Equalize(const Config& config, const std::string& folder, std::vector<Subject>* subjects) {
  for (Subject& subject : *subjects) {
    const KeyPicker picker(config.lookup.distribution, config.lookup.zipfian_theta,
                           subject.source->plan().TotalEntries(), config.seed);
    const Setup setup{config, *subject.source, picker};
    if (Status s = EqualizePolicies(setup, config.equalize, folder, &subject.policies); !s.ok()) {
      return s;
    }
  }
  return Status::OK();
}

Status RunSeeds(const Config& config, SourceSet* sources, const std::string& folder,
                RunReport* report) {
  std::vector<std::vector<PolicyChoice>> tuned;  // by subject
  for (int i = 0; i < config.seeds; ++i) {
    Config seeded = config;
    seeded.seed += static_cast<uint64_t>(i);
    std::vector<std::string> repeated;
    Status s = sources->Make(seeded.seed, folder, i == 0 ? &report->notes : &repeated,
                             i == 0 ? &report->reasons : &repeated);
    if (s.ok() && i == 0) {
      s = Equalize(seeded, folder, &sources->subjects());
    }
    std::vector<PolicyReport> policies;
    std::string fingerprints;
    for (size_t k = 0; s.ok() && k < sources->subjects().size(); ++k) {
      Subject& subject = sources->subjects()[k];
      if (i == 0) {
        tuned.push_back(subject.policies);
      } else {
        subject.policies = tuned[k];
      }
      s = RunSubject(seeded, subject, folder, &policies, &fingerprints, &report->notes,
                     &report->reasons);
    }
    if (!s.ok()) {
      return s;
    }
    if (i == 0) {
      report->shape_fingerprint = fingerprints;
    }
    AddSeed(std::move(policies), report);
  }
  return Status::OK();
}

}  // namespace

Status RunDriver(const Config& config, RunReport* report) {
  DescribeRun(config, report);
  ScopedFolder folder;
  SourceSet sources;  // goes before the folder, in which it has files
  Status s = sources.Open(config);
  if (s.ok()) {
    s = folder.CreateIn(config.db.empty() ? DefaultDatabaseParent() : config.db,
                        "cold_lookup_bench.");
  }
  if (s.ok() && config.keep_db) {
    folder.Keep();
  }
  if (s.ok()) {
    s = CheckStorage(folder.path());
  }
  if (s.ok()) {
    s = RunSeeds(config, &sources, folder.path(), report);
  }
  if (s.ok()) {
    s = sources.CheckUnchanged();
  }
  if (!s.ok()) {
    return s;
  }
  if (report->reasons.empty() && report->policies.front().spec == "none") {
    CompareWithNoFilter(report);  // different trees are not compared at all
  }
  Judge(report);
  return Status::OK();
}

}  // namespace tieredfilter::cold_lookup

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
#include "tools/cold_lookup_bench/storage.h"
#include "tools/cold_lookup_bench/tree_data.h"

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

// What filters saved, relative to the first policy, which is the run without them.
void CompareWithNoFilter(RunReport* report) {
  const PolicyReport& none = report->policies.front();
  for (PolicyReport& policy : report->policies) {
    policy.total.saved = Difference(none.total.counts, policy.total.counts);
    for (auto& [level, figures] : policy.levels) {
      figures.saved = Difference(none.levels.at(level).counts, figures.counts);
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

// Runs all policies with one seed.
Status RunSeed(const Config& config, const TreePlan& tree, const TreeData& data,
               std::vector<PolicyChoice>* choices, const std::string& folder, RunReport* report) {
  std::unique_ptr<KeySpace> keys;
  if (Status s = data.MakeKeys(tree, config.seed, &keys); !s.ok()) {
    return s;
  }
  const KeyPicker picker(config.lookup.distribution, config.lookup.zipfian_theta,
                         tree.TotalEntries(), config.seed);
  const Setup setup{config, tree, *keys, picker};
  if (report->policies.empty()) {
    if (Status s = EqualizePolicies(setup, config.equalize, folder, choices); !s.ok()) {
      return s;
    }
  }
  std::vector<PolicyReport> policies;
  TreeFiles first_files;
  for (size_t i = 0; i < choices->size(); ++i) {
    const PolicyChoice& choice = (*choices)[i];
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
    policies.push_back(run.TakeReport());
    if (i == 0) {
      first_files = run.files();
    } else if (const std::string difference = DescribeDifference(first_files, run.files());
               !difference.empty()) {
      report->reasons.push_back(fmt::format("{} got another tree than {}: {}", choice.requested,
                                            choices->front().requested, difference));
    }
  }
  if (report->shape_fingerprint.empty()) {
    report->shape_fingerprint = first_files.Fingerprint();
  }
  AddSeed(std::move(policies), report);
  return CheckInterrupt();
}

}  // namespace

Status RunDriver(const Config& config, RunReport* report) {
  DescribeRun(config, report);
  TreeData data;
  TreePlan tree;
  std::vector<PolicyChoice> choices;
  Status s = data.Open(config.data);
  if (s.ok()) {
    report->notes.insert(report->notes.end(), data.notes().begin(), data.notes().end());
    TreeShape shape = config.shape;
    data.FitShape(config.target_file_size, &shape);
    s = PlanTree(shape, &tree);
  }
  if (s.ok()) {
    s = ChoosePolicies(config.policies, tree, &choices);
  }
  const bool baseline = config.baseline || choices.size() == 1;
  if (s.ok() && !baseline) {
    choices.erase(choices.begin());
  }
  ScopedFolder folder;
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
  for (int i = 0; s.ok() && i < config.seeds; ++i) {
    Config seeded = config;
    seeded.seed += static_cast<uint64_t>(i);
    s = RunSeed(seeded, tree, data, &choices, folder.path(), report);
  }
  if (!s.ok()) {
    return s;
  }
  if (report->reasons.empty() && baseline) {
    CompareWithNoFilter(report);  // different trees are not compared at all
  }
  Judge(report);
  return Status::OK();
}

}  // namespace tieredfilter::cold_lookup

#include "tools/cold_lookup_bench/driver.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>
#include <vector>

#include "rocksdb/version.h"
#include "tools/cold_lookup_bench/interrupt.h"
#include "tools/cold_lookup_bench/key_space.h"
#include "tools/cold_lookup_bench/lookup_phase.h"
#include "tools/cold_lookup_bench/policy_choice.h"
#include "tools/cold_lookup_bench/storage.h"
#include "tools/cold_lookup_bench/stored_options.h"
#include "tools/cold_lookup_bench/tree_builder.h"
#include "tools/cold_lookup_bench/verify_phase.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::Status;

namespace {

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Everything that is the same for all policies of a run.
struct Plan {
  const Config& config;
  TreePlan tree;
  KeySpace keys;
};

// The run of one policy on its own database.
class PolicyRun {
 public:
  PolicyRun(const Plan& plan, const PolicyChoice& choice, std::string path)
      : plan_(plan), choice_(choice), path_(std::move(path)) {
    report_.requested = choice.requested;
  }

  Status Run() {
    Status s = MakeOptions(plan_.config, choice_.policy, &options_);
    for (const auto step : {&PolicyRun::Load, &PolicyRun::LookUp, &PolicyRun::Verify}) {
      if (s.ok()) {
        s = (this->*step)();
      }
    }
    return s;
  }

  PolicyReport TakeReport() { return std::move(report_); }
  const TreeFiles& files() const { return files_; }

 private:
  Status Load() {
    const auto start = std::chrono::steady_clock::now();
    Status s = BuildTree(options_, path_, plan_.tree, plan_.keys, choice_.requested);
    report_.load_seconds = SecondsSince(start);
    return s.ok() ? ReadStoredPolicy(path_, &report_.spec) : s;
  }

  Status LookUp() {
    ColdDatabase database;
    Status s = database.Open(options_, path_);
    if (s.ok()) {
      s = CheckAgainstPlan(plan_.tree, database.files());
    }
    LookupCounts own;
    if (s.ok()) {
      const LookupSource source = [this](uint64_t number, std::string* key) {
        plan_.keys.AbsentKey(number, key);
        return false;
      };
      s = database.Run(source, plan_.config.lookups, plan_.config.threads, choice_.requested, &own,
                       &report_.host);
    }
    if (s.ok()) {
      files_ = database.files();
      report_.lookup_seconds = own.seconds;
      FillLevels(files_, own, &report_);
      report_.disagreements = CrossCheck(own, report_.host, choice_.policy != nullptr);
      CheckPolicyName();
    }
    return s;
  }

  // The files must have been written by the policy that was asked for.
  void CheckPolicyName() {
    const std::string expected = choice_.policy == nullptr ? "" : choice_.policy->Name();
    if (report_.policy_name != expected) {
      report_.disagreements.push_back(
          fmt::format("the table files were written with the filter policy '{}' instead of '{}'",
                      report_.policy_name, expected));
    }
  }

  Status Verify() {
    if (!plan_.config.verify_keys) {
      return Status::OK();
    }
    VerifyResult result;
    Status s = VerifyKeys(options_, path_, plan_.tree, plan_.keys, plan_.config.threads,
                          choice_.requested, &result);
    report_.keys_checked = result.keys;
    report_.total.keys_lost = result.lost;
    report_.first_lost_key = result.first_lost;
    for (const auto& [level, lost] : result.lost_by_level) {
      report_.levels[level].keys_lost = lost;
    }
    return s;
  }

  const Plan& plan_;
  const PolicyChoice& choice_;
  const std::string path_;
  Options options_;
  TreeFiles files_;
  PolicyReport report_;
};

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
}

// Reads avoided, relative to the first policy, which is the run without filters.
void CompareWithNoFilter(RunReport* report) {
  const PolicyReport& none = report->policies.front();
  const auto difference = [](const LevelReport& a, const LevelReport& b) {
    return static_cast<int64_t>(a.counts.data_block_reads) -
           static_cast<int64_t>(b.counts.data_block_reads);
  };
  for (PolicyReport& policy : report->policies) {
    policy.total.reads_avoided = difference(none.total, policy.total);
    for (auto& [level, figures] : policy.levels) {
      figures.reads_avoided = difference(none.levels.at(level), figures);
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
    if (!policy.host.process_bytes_known && report->notes.empty()) {
      report->notes.push_back(
          "/proc/self/io is not readable here; that reads were cold rests on O_DIRECT alone");
    }
  }
  report->valid = report->reasons.empty();
}

}  // namespace

Status RunDriver(const Config& config, RunReport* report) {
  DescribeRun(config, report);
  TreePlan tree;
  std::vector<PolicyChoice> choices;
  Status s = PlanTree(config.shape, &tree);
  if (s.ok()) {
    s = ChoosePolicies(config.policies, tree, &choices);
  }
  ScopedFolder folder;
  if (s.ok()) {
    s = folder.CreateIn(config.db.empty() ? DefaultDatabaseParent() : config.db,
                        "cold_lookup_bench.");
  }
  if (s.ok()) {
    report->database_folder = folder.path();
    s = CheckStorage(folder.path());
  }
  if (!s.ok()) {
    return s;
  }
  const Plan plan{config, tree, KeySpace(tree, config.seed, config.key_size, config.value_size)};
  TreeFiles first_files;
  for (size_t i = 0; i < choices.size(); ++i) {
    ScopedFolder database;
    s = database.CreateIn(folder.path(), fmt::format("policy-{}.", i));
    if (!s.ok()) {
      return s;
    }
    PolicyRun run(plan, choices[i], database.path());
    if (s = run.Run(); !s.ok()) {
      return s;
    }
    report->policies.push_back(run.TakeReport());
    if (i == 0) {
      first_files = run.files();
      report->shape_fingerprint = first_files.Fingerprint();
    } else if (run.files().Fingerprint() != report->shape_fingerprint) {
      report->reasons.push_back(fmt::format("{} got another tree than {}: {}", choices[i].requested,
                                            choices[0].requested,
                                            DescribeDifference(first_files, run.files())));
    }
    if (config.keep_db) {
      database.Keep();
      folder.Keep();
    }
  }
  if (report->reasons.empty()) {
    CompareWithNoFilter(report);  // different trees are not compared at all
  }
  Judge(report);
  return CheckInterrupt();
}

}  // namespace tieredfilter::cold_lookup

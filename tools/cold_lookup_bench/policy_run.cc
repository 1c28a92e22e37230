#include "tools/cold_lookup_bench/policy_run.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "tools/cold_lookup_bench/lookup_phase.h"
#include "tools/cold_lookup_bench/stored_options.h"
#include "tools/cold_lookup_bench/tree_store.h"
#include "tools/cold_lookup_bench/verify_phase.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::Status;

PolicyRun::PolicyRun(const Setup& setup, const PolicyChoice& choice, std::string path)
    : setup_(setup),
      choice_(choice),
      path_(setup.source.InPlace().empty() ? std::move(path) : setup.source.InPlace()),
      build_cost_(std::make_shared<FilterBuildCost>()) {
  report_.requested = choice.requested;
}

Status PolicyRun::Run() {
  Status s = Load();
  if (s.ok()) {
    s = LookUp();
  }
  return s.ok() && setup_.config.verify_keys ? Verify() : s;
}

Status PolicyRun::LoadOnly() {
  Status s = Load();
  ColdDatabase database;
  if (s.ok()) {
    s = database.Open(options_, path_);
  }
  if (s.ok()) {
    files_ = database.files();
  }
  return s;
}

Status PolicyRun::LoadTree() {
  const auto load = [this](const std::string& path) {
    return setup_.source.Load(options_, path, choice_.requested, build_cost_.get());
  };
  if (!setup_.config.reuse) {
    return load(path_);
  }
  return FindOrLoadTree(setup_.config.db,
                        DescribeTree(setup_.config, choice_, setup_.source.Identity()), load,
                        &path_, &report_.reused);
}

Status PolicyRun::Load() {
  Status s = setup_.source.MakeOptions(NewTimedPolicy(choice_.policy, build_cost_), &options_);
  if (!s.ok()) {
    return s;
  }
  if (!setup_.source.InPlace().empty()) {
    report_.spec = choice_.spec;
    return Status::OK();
  }
  options_.optimize_filters_for_hits = choice_.optimize_filters_for_hits;
  const auto start = std::chrono::steady_clock::now();
  s = LoadTree();
  report_.load_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report_.build.filters = build_cost_->filters;
  report_.build.keys = build_cost_->keys;
  report_.build.cpu_nanoseconds = build_cost_->cpu_nanoseconds;
  if (s.ok()) {
    s = ReadStoredPolicy(path_, setup_.source.Family().name, &report_.spec);
  }
  if (choice_.optimize_filters_for_hits) {
    report_.spec += kOptimizeForHits;
  }
  return s;
}

bool PolicyRun::MakeLookup(uint64_t number, std::string* key) const {
  if (setup_.source.keys().IsAbsentLookup(number, setup_.config.absent_percent)) {
    setup_.source.keys().AbsentKey(number, key);
    return false;
  }
  setup_.source.keys().PresentKey(setup_.picker.Pick(number), key);
  return true;
}

Status PolicyRun::LookUp() {
  ColdDatabase database;
  const LookupSettings& settings = setup_.config.lookup.settings;
  Status s = database.Open(options_, path_, settings, setup_.source.Family());
  if (s.ok()) {
    s = setup_.source.Check(database.files());
  }
  LookupCounts own;
  if (s.ok()) {
    const LookupSource source = [this](uint64_t number, std::string* key) {
      return MakeLookup(number, key);
    };
    s = database.Run(source, choice_.requested, &own, &report_.host);
  }
  if (s.ok()) {
    files_ = database.files();
    report_.memory = database.memory();
    FillLevels(files_, own, &report_);
    report_.disagreements = CrossCheck(own, report_.host, choice_.policy != nullptr, settings.cold);
    if (setup_.source.InPlace().empty()) {
      CheckPolicyName();
    }
  }
  return s;
}

// The files must have been written by the policy that was asked for.
void PolicyRun::CheckPolicyName() {
  const std::string expected = choice_.policy == nullptr ? "" : choice_.policy->Name();
  if (report_.policy_name != expected) {
    report_.disagreements.push_back(
        fmt::format("the table files were written with the filter policy '{}' instead of '{}'",
                    report_.policy_name, expected));
  }
}

Status PolicyRun::Verify() {
  VerifyResult result;
  Status s =
      setup_.source.Verify(options_, path_, setup_.config.threads, choice_.requested, &result);
  report_.keys_checked = result.keys;
  report_.total.keys_lost = result.lost;
  report_.first_lost_key = result.first_lost;
  for (const auto& [level, lost] : result.lost_by_level) {
    report_.levels[level].keys_lost = lost;
  }
  return s;
}

}  // namespace tieredfilter::cold_lookup

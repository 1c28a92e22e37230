#include "tools/cold_lookup_bench/source_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/cold_lookup_bench/natural_load.h"
#include "tools/cold_lookup_bench/planned_tree.h"
#include "tools/cold_lookup_bench/stored_options.h"
#include "tools/cold_lookup_bench/tree_store.h"

namespace tieredfilter::cold_lookup {

using ROCKSDB_NAMESPACE::Status;

namespace {

constexpr char kAsItIs[] = "as it is";
// Reads every stock filter and this project's own.
constexpr char kReadsAll[] = "tieredfilter";
// More sampled keys than this are not kept in memory: lookups then come back to them.
constexpr uint64_t kMaxSample = 200000;

}  // namespace

Status SourceSet::Open(const Config& config) {
  config_ = &config;
  if (config.tree.existing_db.empty()) {
    return data_.Open(config.data);
  }
  database_ = std::make_unique<ExistingDatabase>();
  Status s = ReadFolderState(config.tree.existing_db, &before_);
  if (s.ok()) {
    s = database_->Open(config.tree.existing_db, ExistingDatabase::UnknownOptions::kIgnore,
                        /*direct_reads=*/true);
  }
  return s.ok() ? s
                : Status::InvalidArgument(
                      fmt::format("--existing_db={}: cannot be opened: ", config.tree.existing_db),
                      s.ToString());
}

Status SourceSet::Make(uint64_t seed, const std::string& folder, Lines* notes, Lines* reasons) {
  subjects_.clear();
  notes->insert(notes->end(), data_.notes().begin(), data_.notes().end());
  const Status s = !config_->tree.existing_db.empty()       ? MakeExisting(seed, notes, reasons)
                   : config_->tree.load == LoadKind::kFixed ? MakeFixed(seed)
                                                            : MakeNatural(seed, folder);
  for (Subject& subject : subjects_) {
    if (!config_->baseline && subject.policies.size() > 1) {
      subject.policies.erase(subject.policies.begin());
    }
  }
  return s;
}

Status SourceSet::MakeFixed(uint64_t seed) {
  TreeShape shape = config_->shape;
  data_.FitShape(config_->target_file_size, &shape);
  TreePlan plan;
  std::unique_ptr<KeySpace> keys;
  Subject subject;
  Status s = PlanTree(shape, &plan);
  if (s.ok()) {
    s = ChoosePolicies(config_->policies, plan, &subject.policies);
  }
  if (s.ok()) {
    s = data_.MakeKeys(plan, seed, &keys);
  }
  if (s.ok()) {
    subject.source = std::make_unique<PlannedTree>(*config_, plan, std::move(keys));
    subjects_.push_back(std::move(subject));
  }
  return s;
}

Status SourceSet::LoadNatural(const Config& seeded, const std::string& folder, const TreePlan& plan,
                              std::string* path) {
  std::unique_ptr<KeySpace> keys;
  std::vector<PolicyChoice> policies;
  Status s = data_.MakeKeys(plan, seeded.seed, &keys);
  if (s.ok()) {
    s = ChoosePolicies(seeded.policies, plan, &policies);
  }
  database_ = nullptr;
  if (s.ok()) {
    s = natural_folder_.Remove();
  }
  if (!s.ok()) {
    return s;
  }
  // The first one that the user named.
  const PolicyChoice& first = policies[policies.size() > 1 ? 1 : 0];
  const auto load = [&](const std::string& where) {
    return LoadNaturally(seeded, first.policy, where, *keys, plan.TotalEntries());
  };
  if (seeded.reuse) {
    bool reused = false;
    return FindOrLoadTree(seeded.db, DescribeTree(seeded, first, "natural load"), load, path,
                          &reused);
  }
  s = natural_folder_.CreateIn(folder, "natural.");
  *path = natural_folder_.path() + "/db";
  return s.ok() ? load(*path) : s;
}

Status SourceSet::MakeNatural(uint64_t seed, const std::string& folder) {
  TreeShape shape = config_->shape;
  data_.FitShape(config_->target_file_size, &shape);
  const TreePlan one_run{{{1, shape.num_keys, 1}}};
  Config seeded = *config_;
  seeded.seed = seed;
  std::string path;
  Status s = LoadNatural(seeded, folder, one_run, &path);
  if (s.ok()) {
    database_ = std::make_unique<ExistingDatabase>();
    s = database_->Open(path, ExistingDatabase::UnknownOptions::kRefuse,
                        /*direct_reads=*/true);
  }
  if (!s.ok()) {
    return s;
  }
  auto tree = std::make_unique<CopiedTree>(*database_, 0, seed, /*in_place=*/false);
  s = tree->Prepare(std::min(config_->lookups, kMaxSample));
  Subject subject;
  if (s.ok()) {
    s = ChoosePolicies(config_->policies, tree->plan(), &subject.policies);
  }
  subject.source = std::move(tree);
  subjects_.push_back(std::move(subject));
  return s;
}

Status SourceSet::MakeExisting(uint64_t seed, Lines* notes, Lines* reasons) {
  for (size_t i = 0; i < database_->families().size(); ++i) {
    const std::string name = database_->families()[i]->GetName();
    TreeFiles files;
    if (Status s = TreeFiles::Read(database_->db(), database_->families()[i], &files); !s.ok()) {
      return s;
    }
    if (files.files().empty()) {
      notes->push_back(fmt::format("column family '{}' has no table files", name));
      continue;
    }
    auto tree = std::make_unique<CopiedTree>(*database_, i, seed, !config_->policies_given);
    Subject subject;
    subject.column_family = database_->families().size() > 1 ? name : "";
    Status s = tree->Prepare(std::min(config_->lookups, kMaxSample));
    if (s.ok()) {
      s = config_->policies_given
              ? ChoosePolicies(config_->policies, tree->plan(), &subject.policies)
              : PoliciesAsTheyAre(*tree, &subject, notes, reasons);
    }
    if (!s.ok()) {
      return s;
    }
    subject.source = std::move(tree);
    subjects_.push_back(std::move(subject));
  }
  return subjects_.empty()
             ? Status::InvalidArgument(fmt::format("--existing_db={}: no column family has tables",
                                                   config_->tree.existing_db))
             : Status::OK();
}

Status SourceSet::PoliciesAsTheyAre(const CopiedTree& tree, Subject* subject, Lines* notes,
                                    Lines* reasons) const {
  std::string stored;
  Status s = ChoosePolicies({}, tree.plan(), &subject->policies);
  if (s.ok()) {
    s = ReadStoredPolicy(database_->path(), tree.column_family(), &stored);
  }
  if (!s.ok()) {
    return s;
  }
  const std::string where = subject->column_family.empty()
                                ? database_->path()
                                : fmt::format("column family '{}'", subject->column_family);
  const double coverage = tree.FilterCoverage();
  if (coverage == 0) {
    reasons->push_back(
        fmt::format("{}: filter coverage 0%, no file has a filter, so results are not comparable; "
                    "files get one when a compaction writes them, or with --policies in a copy",
                    where));
    return Status::OK();
  }
  if (coverage < 1) {
    notes->push_back(
        fmt::format("{}: filter coverage {:.1f}%, the other keys lie in files without "
                    "a filter",
                    where, 100 * coverage));
  }
  PolicyChoice own;
  own.requested = kAsItIs;
  own.spec = stored;
  own.policy = tree.policy();
  if (own.policy == nullptr) {
    std::vector<PolicyChoice> reader;
    if (s = ChoosePolicies({kReadsAll}, tree.plan(), &reader); !s.ok()) {
      return s;
    }
    own.policy = reader.back().policy;
    notes->push_back(
        fmt::format("{}: its options name the filter policy '{}', which is not to be "
                    "had here; its filters were read by '{}'",
                    where, stored, kReadsAll));
  }
  subject->policies.push_back(std::move(own));
  return Status::OK();
}

Status SourceSet::CheckUnchanged() const {
  if (before_.empty()) {
    return Status::OK();
  }
  FolderState after;
  Status s = ReadFolderState(config_->tree.existing_db, &after);
  const std::string change = DescribeChange(before_, after);
  if (s.ok() && !change.empty()) {
    s = Status::Corruption(fmt::format("{} changed during the run: {}; is it open elsewhere?",
                                       config_->tree.existing_db, change));
  }
  return s;
}

}  // namespace tieredfilter::cold_lookup

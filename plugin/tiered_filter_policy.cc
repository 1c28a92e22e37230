#include "plugin/tiered_filter_policy.h"

#include <cstring>
#include <exception>
#include <utility>

#include "plugin/filter_reader.h"
#include "plugin/rocksdb_compat.h"
#include "plugin/table_context_adapter.h"
#include "plugin/tieredfilter.h"
#include "plugin/tree_sizes.h"
#include "rocksdb/convenience.h"
#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "rocksdb/utilities/options_type.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::FilterBuildingContext;
using ROCKSDB_NAMESPACE::FilterPolicy;
using ROCKSDB_NAMESPACE::OptionTypeInfo;
using ROCKSDB_NAMESPACE::Status;

// Before this format version RocksDB's Bloom filter is the old one, which rounds to whole bits per
// key.
constexpr uint32_t kFirstFormatWithNewBloom = 5;

bool HasId(const std::string& text, const std::string& id) {
  return text == id || text.compare(0, id.size() + 1, id + ":") == 0;
}

// The spec with the policy id taken off, so that an id and a "spec" property look alike.
std::string WithoutId(const std::string& text, const std::string& id) {
  if (!HasId(text, id)) {
    return text;
  }
  return text.size() > id.size() ? text.substr(id.size() + 1) : "";
}

// Parses what follows "cuckoofilter:": the setting of the kind of that name, for every table.
bool ParseCuckooSpec(const std::string& amount, const ParseOptions& options, PolicySpec* spec,
                     SpecError* error) {
  const std::string kind = NameOf(FilterKind::kCuckoo);
  if (PolicySpec::Parse(amount.empty() ? kind : kind + ":" + amount, options, spec, error)) {
    return true;
  }
  // Counted in the text that was given, where the policy id stands in place of the kind.
  error->position += std::strlen(kCuckooPolicyId) - kind.size();
  return false;
}

// A string property that GetId() stands for when the policy is printed.
OptionTypeInfo PropertyOfId() {
  return OptionTypeInfo(0, ROCKSDB_NAMESPACE::OptionType::kString,
                        ROCKSDB_NAMESPACE::OptionVerificationType::kNormal,
                        ROCKSDB_NAMESPACE::OptionTypeFlags::kDontSerialize |
                            ROCKSDB_NAMESPACE::OptionTypeFlags::kCompareNever);
}

bool HasSizesListener(const ROCKSDB_NAMESPACE::DBOptions& db_options) {
  for (const auto& listener : db_options.listeners) {
    if (listener != nullptr && std::strcmp(listener->Name(), kSizesListenerId) == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace

TieredFilterPolicy::TieredFilterPolicy(const std::string& spec_text)
    : is_cuckoo_filter_(HasId(spec_text, kCuckooPolicyId)) {
  status_ = SetSpec(spec_text);
  // Not serialized: the id says it all, and an id alone also fits where options strings allow no
  // nesting.
  static const std::unordered_map<std::string, OptionTypeInfo>* const type_info = [] {
    using ROCKSDB_NAMESPACE::ConfigOptions;
    auto* types = new std::unordered_map<std::string, OptionTypeInfo>;
    types->emplace("spec", PropertyOfId().SetParseFunc([](const ConfigOptions&, const std::string&,
                                                          const std::string& value, void* policy) {
      return static_cast<TieredFilterPolicy*>(policy)->SetSpecOption(value);
    }));
    for (const char* name : kBudgetNames) {
      types->emplace(
          name, PropertyOfId().SetParseFunc([name](const ConfigOptions&, const std::string&,
                                                   const std::string& value, void* policy) {
            return static_cast<TieredFilterPolicy*>(policy)->SetBudgetOption(name, value);
          }));
    }
    return types;
  }();
  RegisterOptions(kClassName(), this, type_info);
}

TieredFilterPolicy::~TieredFilterPolicy() = default;

Status TieredFilterPolicy::SetSpec(const std::string& spec_text) {
  spec_text_ = WithoutId(spec_text, Name());
  if (!is_cuckoo_filter_ && IsBudgetSpec(spec_text)) {
    return SetBudget(spec_text);
  }
  ParseOptions options;
  options.cuckoo_available = kCuckooAvailable;
  SpecError error;
  if (!(is_cuckoo_filter_ ? ParseCuckooSpec(spec_text_, options, &spec_, &error)
                          : PolicySpec::Parse(spec_text, options, &spec_, &error))) {
    return Status::InvalidArgument(std::string(Name()) + " spec", error.ToString());
  }
  sources_.clear();
  for (const PolicyRule& rule : spec_.rules()) {
    sources_.push_back(NewFilterSource(rule.setting));
  }
  sources_.push_back(NewFilterSource(PolicySpec::SettingWithoutRule()));
  return Status::OK();
}

Status TieredFilterPolicy::SetBudget(const std::string& spec_text) {
  BudgetSpec spec;
  SpecError error;
  if (!BudgetSpec::Parse(spec_text, &spec, &error)) {
    return Status::InvalidArgument(std::string(Name()) + " budget", error.ToString());
  }
  budget_ = std::make_unique<const MemoryBudget>(spec, activity_);
  return Status::OK();
}

// The options of a budget arrive one by one and in any order; what they come to is looked at after
// each.
Status TieredFilterPolicy::SetBudgetOption(const std::string& name, const std::string& value) {
  if (in_use_.load(std::memory_order_relaxed)) {
    return Status::InvalidArgument(
        "tieredfilter: the policy is in use and cannot change; set a new filter_policy instead");
  }
  if (is_cuckoo_filter_ || (budget_options_.empty() && !spec_text_.empty())) {
    status_ = Status::InvalidArgument("tieredfilter: a budget cannot stand beside other rules",
                                      "property " + name);
    return status_;
  }
  budget_options_[name] = value;
  std::string text;
  for (const char* option : kBudgetNames) {
    const auto found = budget_options_.find(option);
    if (found != budget_options_.end()) {
      text += (text.empty() ? "" : ",") + found->first + ":" + found->second;
    }
  }
  spec_text_ = text;
  status_ = SetBudget(text);
  // Without the budget itself it may still come.
  return budget_options_.count(kBudgetNames[0]) != 0 ? status_ : Status::OK();
}

Status TieredFilterPolicy::SetSpecOption(const std::string& spec_text) {
  if (in_use_.load(std::memory_order_relaxed)) {
    return Status::InvalidArgument(
        "tieredfilter: the policy is in use and cannot change; set a new filter_policy instead");
  }
  if (!spec_text_.empty()) {
    status_ = Status::InvalidArgument("tieredfilter: the spec is given twice",
                                      "in the id and as the property spec");
  } else {
    status_ = SetSpec(spec_text);
  }
  return status_;
}

Status TieredFilterPolicy::ConfigureOptions(
    const ROCKSDB_NAMESPACE::ConfigOptions& config_options,
    const std::unordered_map<std::string, std::string>& properties,
    std::unordered_map<std::string, std::string>* unused) {
  const Status status = FilterPolicy::ConfigureOptions(config_options, properties, unused);
  // RocksDB may drop this error, too, and would then run with the default ladder instead of what
  // was misspelt.
  if (status.IsNotFound() && status_.ok() && !in_use_.load(std::memory_order_relaxed)) {
    status_ = Status::InvalidArgument(
        "tieredfilter: the only properties are spec, and those of a budget: budget, absent, kinds, "
        "cap and shape",
        status.getState());
  }
  return status.IsNotFound() && !status_.ok() ? status_ : status;
}

std::string TieredFilterPolicy::GetId() const {
  std::string spec = spec_text_;
  if (status_.ok() && budget_ != nullptr) {
    spec = budget_->spec().ToString();
  } else if (status_.ok()) {
    // A cuckoofilter's spec is one setting, of which the policy id replaces the kind.
    spec = is_cuckoo_filter_ ? spec_.rules()[0].setting.ToString().substr(
                                   std::strlen(NameOf(FilterKind::kCuckoo)) + 1)
                             : spec_.ToString();
  }
  return std::string(Name()) + ":" + spec;
}

const char* TieredFilterPolicy::CompatibilityName() const {
  // Asked of a stock policy, since no exported constant has had the same name in all versions.
  static const std::unique_ptr<const FilterPolicy> stock(
      ROCKSDB_NAMESPACE::NewBloomFilterPolicy(10));
  return stock->CompatibilityName();
}

ROCKSDB_NAMESPACE::FilterBitsBuilder* TieredFilterPolicy::GetBuilderWithContext(
    const FilterBuildingContext& context) const {
  if (!status_.ok()) {
    // Reached only past ValidateOptions, as in SstFileWriter, which cannot be told.
    ROCKSDB_NAMESPACE::Error(context.info_log, "no filter is written: %s",
                             status_.ToString().c_str());
    return nullptr;
  }
  in_use_.store(true, std::memory_order_relaxed);
  if (budget_ != nullptr) {
    WarnOfUnusableBlocks(context);
    try {
      return budget_->NewBuilder(context);
    } catch (const std::exception& e) {
      ROCKSDB_NAMESPACE::Error(context.info_log, "tieredfilter: a table gets no filter: %s",
                               e.what());
      return nullptr;
    }
  }
  const TableContext table = ToTableContext(context);
  WarnOnce(context, spec_.SettingFor(table));
  WarnOfUnusableBlocks(context);
  return sources_[spec_.RuleFor(table)]->NewBuilder(context);
}

FilterSetting TieredFilterPolicy::PlannedFor(const ROCKSDB_NAMESPACE::Logger* info_log,
                                             const std::string& column_family_name,
                                             const TableContext& table) const {
  return budget_ != nullptr ? budget_->PlannedFor(info_log, column_family_name, table)
                            : spec_.SettingFor(table);
}

// Says in the log what RocksDB will do differently from what the spec asks for. Once per policy: a
// log line per table would drown the log.
void TieredFilterPolicy::WarnOnce(const FilterBuildingContext& context,
                                  const FilterSetting& setting) const {
  const bool legacy_bloom = setting.kind == FilterKind::kBloom &&
                            context.table_options.format_version < kFirstFormatWithNewBloom;
  SpecError error;
  const bool beyond = context.num_levels > 0 && !spec_.FitsNumLevels(context.num_levels, &error);
  if ((!legacy_bloom && !beyond) || warned_.exchange(true, std::memory_order_relaxed)) {
    return;
  }
  if (legacy_bloom) {
    ROCKSDB_NAMESPACE::Warn(context.info_log,
                            "tieredfilter: with format_version %u RocksDB writes its old Bloom "
                            "filter, with %s rounded to whole bits per key",
                            context.table_options.format_version, setting.ToString().c_str());
  }
  if (beyond) {
    ROCKSDB_NAMESPACE::Warn(context.info_log, "tieredfilter spec %s: %s", spec_.ToString().c_str(),
                            error.ToString().c_str());
  }
}

// Readers are made without a log at hand; the next builder has one. Once per policy, which is once
// per open database in practice.
void TieredFilterPolicy::WarnOfUnusableBlocks(const FilterBuildingContext& context) const {
  const uint64_t count = GetFilterCounters().unusable_blocks_read;
  if (count == 0 || warned_of_unusable_blocks_.exchange(true, std::memory_order_relaxed)) {
    return;
  }
  ROCKSDB_NAMESPACE::Warn(
      context.info_log,
      "tieredfilter: this process has read %llu filter blocks that are damaged or of a newer "
      "version; their files are read without a filter until compaction rewrites them",
      static_cast<unsigned long long>(count));
}

ROCKSDB_NAMESPACE::FilterBitsReader* TieredFilterPolicy::GetFilterBitsReader(
    const ROCKSDB_NAMESPACE::Slice& contents) const {
  return NewFilterBitsReader(contents, activity_);
}

Status TieredFilterPolicy::PrepareOptions(const ROCKSDB_NAMESPACE::ConfigOptions& config_options) {
  return status_.ok() ? FilterPolicy::PrepareOptions(config_options) : status_;
}

Status TieredFilterPolicy::ValidateOptions(
    const ROCKSDB_NAMESPACE::DBOptions& db_options,
    const ROCKSDB_NAMESPACE::ColumnFamilyOptions& cf_options) const {
  if (!status_.ok()) {
    return status_;
  }
  if (budget_ != nullptr) {
    if (budget_->needs_sizes() && !HasSizesListener(db_options)) {
      return Status::InvalidArgument(
          "tieredfilter " + budget_->spec().ToString() +
              ": bytes can only be divided among keys whose number is known",
          std::string("set the database option listeners={") + kSizesListenerId +
              "}, or state a shape as in shape:4x25k+100k+1M, or give the budget in bits per key");
    }
    return FilterPolicy::ValidateOptions(db_options, cf_options);
  }
  SpecError error;
  if (!spec_.FitsNumLevels(cf_options.num_levels, &error)) {
    return Status::InvalidArgument("tieredfilter spec " + spec_.ToString(), error.ToString());
  }
  return FilterPolicy::ValidateOptions(db_options, cf_options);
}

}  // namespace tieredfilter

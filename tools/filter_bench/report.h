// Tables, JSON and the generated blocks of documents.
#pragma once

#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tools/filter_bench/measure.h"

namespace tieredfilter::bench {

// Plain text tables of results with the same number of keys.
std::string TextTables(const std::vector<FilterResult>& results);

// Markdown tables of a whole run, one per number of keys, with machine, versions, flags and seed.
std::string MarkdownTables(const nlohmann::ordered_json& run,
                           const std::vector<FilterResult>& results);

// {"run": ..., "results": [...]}; see --legend for the fields.
nlohmann::ordered_json ToJson(const nlohmann::ordered_json& run,
                              const std::vector<FilterResult>& results);

// Whether WriteFileAtomically could write there, as things are; changes nothing.
bool CanWriteFile(const std::string& path, std::string* error);

// Writes `content` to `path` so that a reader never sees half of it: temporary file, then rename.
bool WriteFileAtomically(const std::string& path, const std::string& content, std::string* error);

// Replaces what stands between "<!-- begin generated: NAME -->" and the next
// "<!-- end generated -->" in the file. Fails without touching it if either is missing.
bool ReplaceGeneratedBlock(const std::string& path, const std::string& name,
                           const std::string& content, std::string* error);

}  // namespace tieredfilter::bench

// The tables of the HTML report.
#pragma once

#include <cstddef>
#include <string>

#include "tools/cold_lookup_bench/report.h"

namespace tieredfilter::cold_lookup {

// The number of a policy in a circle of its colour: how charts and tables refer to it.
std::string PolicyBadge(size_t policy);

// The same with the policy's name behind it.
std::string PolicyName(size_t policy, const std::string& name);

std::string SummaryHtml(const RunReport& report);
std::string IoHtml(const RunReport& report);
std::string DevicesHtml(const RunReport& report);  // empty if none is modelled
std::string CostHtml(const RunReport& report);     // times, memory, building
std::string LevelsHtml(const RunReport& report);
std::string SettingsHtml(const RunReport& report);

}  // namespace tieredfilter::cold_lookup

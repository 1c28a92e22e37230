// Where figures came from: machine, versions, flags.
#pragma once

#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace tieredfilter::bench {

// The part of a report's `run` that does not depend on the command line.
nlohmann::ordered_json DescribeMachineAndBuild();

// What makes the figures of this build or machine doubtful, one sentence each.
std::vector<std::string> BuildWarnings();

}  // namespace tieredfilter::bench

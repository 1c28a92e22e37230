// Why a piece of configuration text was refused.
#pragma once

#include <cstddef>
#include <string>

namespace tieredfilter {

// `position` counts bytes from 0 in the text the caller passed in (policy id included), so that a
// tool can point at it. `message` is a full sentence for people: the offending piece in quotes,
// what is wrong and what would be right. It holds neither the position nor the text; ToString()
// adds the position, counted from 1 as editors do.
struct SpecError {
  size_t position = 0;
  std::string message;

  std::string ToString() const {
    return "character " + std::to_string(position + 1) + ": " + message;
  }
};

}  // namespace tieredfilter

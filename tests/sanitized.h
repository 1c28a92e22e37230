// Whether this is a build with sanitizers. They are slow and look for other faults, so tests that
// repeat themselves to raise their chances repeat less there.
#pragma once

namespace tieredfilter {

#ifdef TIEREDFILTER_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace tieredfilter

// The frame of the HTML report: one file that needs nothing from elsewhere.
#pragma once

#include <string>

namespace tieredfilter::cold_lookup {

// Text for use between tags and in quoted attributes. Bytes that could break UTF-8 or the page are
// replaced.
std::string EscapeHtml(const std::string& text);

// A page with style sheet for light and dark screens, phones and paper.
std::string HtmlPage(const std::string& title, const std::string& body);

}  // namespace tieredfilter::cold_lookup

// Charts as inline SVG; colours come from the page's style sheet (classes f0.. for fills, s0.. for
// strokes).
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tieredfilter::cold_lookup {

constexpr size_t kChartColors = 8;

struct ChartPoint {
  double x = 0;
  double y = 0;       // drawn on a logarithmic scale; zero is drawn at the bottom, marked as such
  double error = 0;   // half height of the bar around y
  std::string label;  // beside the point; a few characters
  std::string title;  // shown when pointed at
  size_t color = 0;
};

struct ChartLine {
  std::string label;
  size_t color = 0;
  std::vector<std::pair<double, double>> points;
};

struct BarGroup {
  std::string label;
  std::vector<double> bars;  // one per policy, in the order of the colours
};

// x linear, y logarithmic.
std::string ScatterChart(const std::vector<ChartPoint>& points, const std::string& x_title,
                         const std::string& y_title);

// Groups of bars side by side, logarithmic height.
std::string BarChart(const std::vector<BarGroup>& groups, const std::string& y_title);

// x in microseconds, logarithmic; y from 0 to 100.
std::string LineChart(const std::vector<ChartLine>& lines, const std::string& x_title,
                      const std::string& y_title);

}  // namespace tieredfilter::cold_lookup

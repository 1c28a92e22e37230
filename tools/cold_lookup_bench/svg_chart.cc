#include "tools/cold_lookup_bench/svg_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "tools/cold_lookup_bench/report_page.h"

namespace tieredfilter::cold_lookup {

namespace {

// User units; the page scales the drawing to its width. So narrow that text stays legible on a
// phone.
constexpr double kWidth = 480;
constexpr double kHeight = 320;
constexpr double kLeft = 56;
constexpr double kRight = 468;
constexpr double kTop = 30;
constexpr double kBottom = 270;

// Whole decades around the positive values.
class LogScale {
 public:
  LogScale(double smallest, double largest, double from, double to) : from_(from), to_(to) {
    low_ = std::floor(std::log10(smallest));
    high_ = std::max(low_ + 1, std::ceil(std::log10(largest)));
  }
  double At(double value) const {
    const double share = value <= 0 ? 0 : (std::log10(value) - low_) / (high_ - low_);
    return from_ + std::clamp(share, 0.0, 1.0) * (to_ - from_);
  }
  std::vector<double> Ticks() const {
    std::vector<double> ticks;
    for (double exponent = low_; exponent <= high_; ++exponent) {
      ticks.push_back(std::pow(10, exponent));
    }
    return ticks;
  }

 private:
  const double from_;
  const double to_;
  double low_;
  double high_;
};

// The range of positive values; a harmless one if there are none.
std::pair<double, double> PositiveRange(const std::vector<double>& values) {
  double smallest = 0;
  double largest = 0;
  for (const double value : values) {
    if (value > 0) {
      smallest = smallest == 0 ? value : std::min(smallest, value);
      largest = std::max(largest, value);
    }
  }
  return smallest == 0 ? std::make_pair(0.1, 1.0) : std::make_pair(smallest, largest);
}

std::string Text(double x, double y, const std::string& text, const std::string& anchor,
                 const std::string& kind = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n",
                     x, y, anchor, kind, EscapeHtml(text));
}

std::string Line(double x1, double y1, double x2, double y2, const std::string& kind) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2,
      y2, kind);
}

std::string Frame(const std::string& x_title, const std::string& y_title,
                  const std::string& content) {
  return fmt::format("<svg viewBox=\"0 0 {:g} {:g}\" role=\"img\" aria-label=\"{}\">\n", kWidth,
                     kHeight, EscapeHtml(x_title.empty() ? y_title : y_title + " by " + x_title)) +
         Text(4, 14, y_title, "start", "soft") + Text(kRight, kHeight - 6, x_title, "end", "soft") +
         content + Line(kLeft, kBottom, kRight, kBottom, "axis") + "</svg>\n";
}

std::string LogRows(const LogScale& scale) {
  std::string svg;
  for (const double tick : scale.Ticks()) {
    svg += Line(kLeft, scale.At(tick), kRight, scale.At(tick), "axis") +
           Text(kLeft - 6, scale.At(tick) + 4, fmt::format("{:g}", tick), "end", "soft");
  }
  return svg;
}

// Heights for the labels of points that would write over each other: points whose labels stand in
// the same place are moved apart, the others stay.
std::vector<double> SpreadLabels(const std::vector<ChartPoint>& points,
                                 const std::function<double(double)>& x,
                                 const std::function<double(double)>& y) {
  constexpr double kLabelWidth = 26;
  constexpr double kLabelHeight = 14;
  std::vector<size_t> order(points.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return y(points[a].y) > y(points[b].y); });
  std::vector<double> heights(points.size());
  for (size_t i = 0; i < order.size(); ++i) {
    heights[order[i]] = y(points[order[i]].y);
    for (size_t below = 0; below < i; ++below) {
      if (std::abs(x(points[order[i]].x) - x(points[order[below]].x)) < kLabelWidth) {
        heights[order[i]] = std::min(heights[order[i]], heights[order[below]] - kLabelHeight);
      }
    }
  }
  return heights;
}

// "10 us", "1 ms", "1 s"
std::string TimeLabel(double microseconds) {
  return microseconds < 1e3   ? fmt::format("{:g} us", microseconds)
         : microseconds < 1e6 ? fmt::format("{:g} ms", microseconds / 1e3)
                              : fmt::format("{:g} s", microseconds / 1e6);
}

}  // namespace

std::string ScatterChart(const std::vector<ChartPoint>& points, const std::string& x_title,
                         const std::string& y_title) {
  std::vector<double> heights;
  double widest = 1;
  for (const ChartPoint& point : points) {
    heights.push_back(point.y);
    widest = std::max(widest, point.x);
  }
  const auto [smallest, largest] = PositiveRange(heights);
  const LogScale y(smallest, largest, kBottom, kTop);
  const double step = widest > 12 ? 4 : 2;
  const double end = step * std::ceil(widest / step + 0.25);
  const auto x = [&](double value) { return kLeft + value / end * (kRight - kLeft); };
  std::string svg = LogRows(y);
  for (double tick = 0; tick <= end; tick += step) {
    svg += Text(x(tick), kBottom + 18, fmt::format("{:g}", tick), "middle", "soft");
  }
  const std::vector<double> label_y =
      SpreadLabels(points, x, [&](double value) { return y.At(value); });
  for (size_t i = 0; i < points.size(); ++i) {
    const ChartPoint& point = points[i];
    const size_t color = point.color % kChartColors;
    const double px = x(point.x);
    const double py = y.At(point.y);
    if (point.error > 0) {
      svg += Line(px, y.At(std::max(0.0, point.y - point.error)), px, y.At(point.y + point.error),
                  fmt::format("s{}", color));
    }
    svg += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" class=\"f{}\"><title>{}</title></circle>\n",
        px, py, color, EscapeHtml(point.title));
    svg +=
        Text(px + 9, label_y[i] + 4, point.y > 0 ? point.label : point.label + " (none)", "start");
  }
  return Frame(x_title, y_title, svg);
}

std::string BarChart(const std::vector<BarGroup>& groups, const std::string& y_title) {
  std::vector<double> heights;
  for (const BarGroup& group : groups) {
    heights.insert(heights.end(), group.bars.begin(), group.bars.end());
  }
  const auto [smallest, largest] = PositiveRange(heights);
  // A decade of room below the smallest bar, so that it can be seen.
  const LogScale y(smallest / 10, largest, kBottom, kTop);
  std::string svg = LogRows(y);
  const double group_width =
      (kRight - kLeft) / static_cast<double>(std::max<size_t>(groups.size(), 1));
  for (size_t g = 0; g < groups.size(); ++g) {
    const double start = kLeft + group_width * static_cast<double>(g);
    const double width =
        group_width * 0.8 / static_cast<double>(std::max<size_t>(groups[g].bars.size(), 1));
    for (size_t b = 0; b < groups[g].bars.size(); ++b) {
      const double top = y.At(groups[g].bars[b]);
      svg += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
          "class=\"f{}\"><title>{:.3f}</title></rect>\n",
          start + group_width * 0.1 + width * static_cast<double>(b), top, width * 0.9,
          kBottom - top, b % kChartColors, groups[g].bars[b]);
    }
    svg += Text(start + group_width / 2, kBottom + 18, groups[g].label, "middle", "soft");
  }
  return Frame("", y_title, svg);
}

std::string LineChart(const std::vector<ChartLine>& lines, const std::string& x_title,
                      const std::string& y_title) {
  std::vector<double> values;
  for (const ChartLine& line : lines) {
    for (const auto& [at, percent] : line.points) {
      values.push_back(at);
    }
  }
  const auto [smallest, largest] = PositiveRange(values);
  const LogScale x(smallest, largest, kLeft, kRight);
  const auto y = [](double percent) { return kBottom - percent / 100 * (kBottom - kTop); };
  std::string svg;
  for (const double tick : x.Ticks()) {
    svg += Line(x.At(tick), kTop, x.At(tick), kBottom, "axis") +
           // The last label would stick out of the drawing.
           Text(x.At(tick), kBottom + 18, TimeLabel(tick), x.At(tick) >= kRight ? "end" : "middle",
                "soft");
  }
  for (const double percent : {0, 25, 50, 75, 100}) {
    svg += Line(kLeft, y(percent), kRight, y(percent), "axis") +
           Text(kLeft - 6, y(percent) + 4, fmt::format("{:g}", percent), "end", "soft");
  }
  for (const ChartLine& line : lines) {
    std::string points;
    for (const auto& [at, percent] : line.points) {
      points += fmt::format("{:.1f},{:.1f} ", x.At(at), y(percent));
    }
    svg += fmt::format("<polyline points=\"{}\" class=\"s{}\"><title>{}</title></polyline>\n",
                       points, line.color % kChartColors, EscapeHtml(line.label));
  }
  return Frame(x_title, y_title, svg);
}

}  // namespace tieredfilter::cold_lookup

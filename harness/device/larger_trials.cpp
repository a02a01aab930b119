#include "harness/device/larger_trials.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "common/cuda.hpp"
#include "common/random.hpp"
#include "harness/device/inputs.hpp"

namespace lab {
// Numbers that follow a seed, one after the other.
class draws {
 public:
  explicit draws(std::uint64_t seed) : seed_(seed) {}

  std::uint64_t bits() { return random_bits(seed_, next_++); }
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(bits() % count); }
  // From `least` to `most`, every order of magnitude as often as any other.
  std::int64_t size(double least, double most) {
    const double logarithm = std::log2(least) + uniform(bits()) * (std::log2(most) - std::log2(least));
    return std::max<std::int64_t>(1, std::llround(std::exp2(logarithm)));
  }
  template <class T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t k = list.size(); k > 1; --k) std::swap(list[k - 1], list[below(k)]);
  }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

larger_trials::larger_trials(std::vector<parameter_description> specs, const trial_cost& cost)
    : specs_(std::move(specs)), cost_(cost) {
  for (const auto& spec : specs_) {
    if (is_size(spec)) sizes_.push_back(spec.name);
    if (is_span(spec)) spans_.push_back(spec.name);
  }
}

std::vector<trial> larger_trials::in_between(std::vector<trial> listed, std::uint64_t seed) const {
  constexpr double largest_listed = 1 << 13;
  std::vector<trial> list;
  if (sizes_.empty()) return list;
  draws draw(seed ^ 0x1a46e6);
  draw.shuffle(listed);
  take_words_in_turn(listed);
  add_drawn(list, listed, draw, 1, largest_listed);
  add_drawn(list, listed, draw, largest_listed, std::min(cost_.values(defaults()), emulated ? 1e9 : 4e6));
  return list;
}

parameter_values larger_trials::nearly(const parameter_values& measured) const {
  constexpr std::int64_t part = emulated ? 1 : 8;
  if (sizes_.empty()) return measured;
  parameter_values values = measured;
  values[sizes_[0]] = std::max<std::int64_t>(1, values[sizes_[0]].whole() / part);
  return cost_.of(values) < 0 ? measured : values;
}

parameter_values larger_trials::beyond(const parameter_values& measured, double most) const {
  constexpr double wanted = 4.3e6;
  if (!emulated || sizes_.empty()) return measured;
  const double times = wanted / cost_.values(measured);
  if (times <= 1 || !(times <= most)) return measured;
  parameter_values values = measured;
  // An odd number, so that the last tile is not whole.
  const double size = static_cast<double>(values[sizes_[0]].whole()) * times;
  values[sizes_[0]] = std::llround(size / 2) * 2 - 1;
  values = cost_.fitted(values, measured);
  return cost_.of(values) < 0 ? measured : values;
}

std::vector<trial> larger_trials::at(const parameter_values& measured, const std::vector<trial>& small,
                                     std::uint64_t seed) const {
  constexpr std::size_t wanted = emulated ? 3 : 1;
  std::vector<pattern> kinds;
  const std::string words = words_of(measured);
  for (const trial& one : small) {
    const bool is_other = one.input != pattern::random && !is_exact(one.input) &&
                          words_of(one.parameters) == words && !is_too_sparse(one.input, measured);
    if (is_other && std::find(kinds.begin(), kinds.end(), one.input) == kinds.end())
      kinds.push_back(one.input);
  }
  // In an order of their own, so that all stages of a track have the same.
  std::sort(kinds.begin(), kinds.end());
  draws draw(seed ^ 0x3ea5);
  draw.shuffle(kinds);
  kinds.resize(std::min(kinds.size(), wanted));
  std::vector<trial> list;
  for (const pattern kind : kinds) {
    trial added{.parameters = measured, .input = kind, .brief = true};
    if (seed_is_index(kind)) added.seed = seed_of(added, draw);
    list.push_back(std::move(added));
  }
  return list;
}

// Whether more of it is more to do.
bool larger_trials::is_size(const parameter_description& spec) const {
  if (spec.kind != parameter_kind::whole) return false;
  parameter_values values = defaults();
  const std::int64_t one = values.at(spec.name).whole();
  if (one < 2) return false;
  const double cost = cost_.values(values);
  values[spec.name] = 2 * one;
  return cost_.values(values) > cost;
}

// Whether it is a number of neighbouring values, from 1 on, such as a window.
bool larger_trials::is_span(const parameter_description& spec) const {
  return spec.kind == parameter_kind::whole && spec.minimum.whole() == 1 && !is_size(spec);
}
// All values but one, all of them, one more; or any number of them.
parameter_value larger_trials::span(draws& draw, const parameter_values& values,
                                    const parameter_value& given) const {
  const auto all = static_cast<std::int64_t>(cost_.values(values));
  switch (draw.below(4)) {
    case 0:
      return std::max<std::int64_t>(1, all - 1 + static_cast<std::int64_t>(draw.below(3)));
    case 1:
      return given;
    default:
      return draw.size(1, 2 * static_cast<double>(std::max<std::int64_t>(1, all)));
  }
}

// A stage that goes back until it has met so many values goes far where nearly all are missing.
bool larger_trials::is_too_sparse(pattern input, const parameter_values& p) const {
  constexpr double most_reached = emulated ? 2e8 : 1e10;
  const bool is_sparse = input == pattern::sparse || (cost_.goes_back() && is_mostly_missing(input));
  return is_sparse && cost_.reach(p) > most_reached;
}

parameter_values larger_trials::defaults() const {
  parameter_values values;
  for (const auto& spec : specs_) values[spec.name] = spec.bench_defaults.at(0);
  return values;
}

void larger_trials::add_drawn(std::vector<trial>& list, const std::vector<trial>& listed, draws& draw,
                              double least, double most) const {
  constexpr std::size_t most_trials = emulated ? 128 : 32;
  constexpr double most_of_all = 3e8;
  std::set<std::string> known;
  double spent = 0;
  for (const trial& one : listed) {
    if (known.size() == most_trials || spent > most_of_all) break;
    if (!one.then.empty() || known.contains(kind_of_trial(one))) continue;
    trial added{.parameters = one.parameters, .input = one.input, .brief = true};
    const double spent_on_it = resize(added, draw, least, most);
    if (spent_on_it < 0) continue;
    spent += spent_on_it;
    known.insert(kind_of_trial(one));
    if (one.seed) added.seed = seed_of(added, draw);
    list.push_back(std::move(added));
  }
}

// Of all types and operations one trial each, then a second: where there is time for some alone, none of
// them is left out.
void larger_trials::take_words_in_turn(std::vector<trial>& list) const {
  std::map<std::string, std::size_t> met;
  std::vector<std::pair<std::size_t, std::size_t>> turns;
  for (std::size_t k = 0; k < list.size(); ++k) turns.emplace_back(met[words_of(list[k].parameters)]++, k);
  std::sort(turns.begin(), turns.end());
  std::vector<trial> ordered;
  ordered.reserve(list.size());
  for (const auto& [turn, k] : turns) ordered.push_back(std::move(list[k]));
  list = std::move(ordered);
}

// The words among its parameters (types, operations), and its input.
std::string larger_trials::words_of(const parameter_values& values) const {
  std::string text;
  for (const auto& spec : specs_) {
    if (!spec.choices.empty()) text += values.at(spec.name).text() + " ";
  }
  return text;
}
std::string larger_trials::kind_of_trial(const trial& one) const {
  return words_of(one.parameters) + to_string(one.input);
}

// Gives it sizes of so many values in all, fewer where each of them costs more. Returns what it costs;
// negative where there are none.
double larger_trials::resize(trial& one, draws& draw, double least, double most) const {
  constexpr double most_of_one = emulated ? 1e8 : 5e7;
  constexpr int attempts = 6;
  const parameter_values given = one.parameters;
  for (int k = 0; k < attempts && most > least; ++k) {
    auto values = static_cast<double>(draw.size(least, most));
    for (std::size_t dimension = 0; dimension < sizes_.size(); ++dimension) {
      const bool is_last = dimension + 1 == sizes_.size();
      const std::int64_t size = is_last ? std::llround(values) : draw.size(1, values);
      one.parameters[sizes_[dimension]] = std::max<std::int64_t>(1, size);
      values /= static_cast<double>(std::max<std::int64_t>(1, size));
    }
    one.parameters = cost_.fitted(one.parameters, given);
    for (const std::string& name : spans_) {
      const parameter_value listed = one.parameters[name];
      if (draw.below(2) == 0) one.parameters[name] = span(draw, one.parameters, listed);
      if (cost_.of(one.parameters) < 0) one.parameters[name] = listed;
    }
    const parameter_values drawn = one.parameters;
    const double cost = cost_.of(drawn);
    if (cost >= 0 && cost <= most_of_one && !is_too_sparse(one.input, drawn)) return cost;
    most = std::max(least, most / 2);
  }
  return -1;
}

// Where the seed is an index: any.
std::uint64_t larger_trials::seed_of(const trial& one, draws& draw) const {
  const double values = cost_.values(one.parameters);
  if (!seed_is_index(one.input) || values < 1) return draw.bits() >> 2;
  return draw.bits() % static_cast<std::uint64_t>(values);
}

}  // namespace lab

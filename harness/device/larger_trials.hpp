// What a stage is tried on at small sizes, again at larger ones up to those that are measured: another way
// through a kernel may begin at any of them. Sizes and inputs are drawn, each kind of input at least once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/device/track.hpp"

namespace lab {

class draws;

// What a trial of these parameters is, to whoever chooses among them.
class trial_cost {
 public:
  // Values that are read or added up; negative for parameters that make no sense together.
  [[nodiscard]] virtual double of(const parameter_values& p) const = 0;
  // Likewise, where what is right is known of all outputs together.
  [[nodiscard]] virtual double in_one_pass(const parameter_values& p) const { return of(p); }
  // Values that are read.
  [[nodiscard]] virtual double values(const parameter_values& p) const = 0;
  // Values that are read where each output goes back to the first.
  [[nodiscard]] virtual double reach(const parameter_values& /*p*/) const { return 0; }
  // Whether an output goes back until it has met enough values that count.
  [[nodiscard]] virtual bool goes_back() const { return false; }
  // p with what must follow where sizes were those of `before`.
  [[nodiscard]] virtual parameter_values fitted(const parameter_values& p,
                                                const parameter_values& /*before*/) const {
    return p;
  }

 protected:
  ~trial_cost() = default;
};

// Of a track whose parameters are `specs`.
class larger_trials {
 public:
  // `cost` outlives this.
  larger_trials(std::vector<parameter_description> specs, const trial_cost& cost);

  // Of each kind of `listed` trials one at a size in between those that a track lists, and one at a larger
  // one.
  [[nodiscard]] std::vector<trial> in_between(std::vector<trial> listed, std::uint64_t seed) const;

  // Parameters as those that are measured, of an eighth of the size on a GPU: what every stage of a track is
  // tried on there many times is far beyond every cache, and costs no minutes.
  [[nodiscard]] parameter_values nearly(const parameter_values& measured) const;

  // Parameters as those that are measured, of 4 million values where the emulator measures fewer: a stage
  // that holds at most 1024 partial results is right at those. No more than the cost of one trial allows.
  [[nodiscard]] parameter_values beyond(const parameter_values& measured) const;

  // Some kinds of input of the `small` trials, at sizes that are measured.
  [[nodiscard]] std::vector<trial> at(const parameter_values& measured, const std::vector<trial>& small,
                                      std::uint64_t seed) const;

 private:
  [[nodiscard]] parameter_values defaults() const;
  [[nodiscard]] bool is_size(const parameter_description& spec) const;
  [[nodiscard]] bool is_span(const parameter_description& spec) const;
  parameter_value span(draws& draw, const parameter_values& values, const parameter_value& given) const;
  [[nodiscard]] bool is_too_sparse(pattern input, const parameter_values& p) const;
  void add_drawn(std::vector<trial>& list, const std::vector<trial>& listed, draws& draw, double least,
                 double most) const;
  void take_words_in_turn(std::vector<trial>& list) const;
  [[nodiscard]] std::string words_of(const parameter_values& values) const;
  [[nodiscard]] std::string kind_of_trial(const trial& one) const;
  double resize(trial& one, draws& draw, double least, double most) const;
  std::uint64_t seed_of(const trial& one, draws& draw) const;

  const std::vector<parameter_description> specs_;
  const trial_cost& cost_;
  std::vector<std::string> sizes_;
  std::vector<std::string> spans_;
};

}  // namespace lab

// Linear equations between whole numbers, added one by one. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace lab::emulator {

// Exact: numbers are residues modulo the prime 2^61 - 1, so that a chance of 10^-18 remains that an equation
// is taken for one that fits.
class linear_system {
 public:
  using terms = std::map<std::size_t, std::int64_t>;  // factor, by unknown

  // Whether the sum of `factors` times their unknowns can be `value` beside all that was added.
  [[nodiscard]] bool allows(const terms& factors, std::uint64_t value) const;
  // Whether all of these can be together.
  [[nodiscard]] bool allows(const std::vector<std::pair<terms, std::uint64_t>>& equations) const;
  // Adds that it is. False, and nothing is added, if it cannot be.
  bool add(const terms& factors, std::uint64_t value);

 private:
  struct equation {
    std::map<std::size_t, std::uint64_t> factors;  // none of them 0; the first one is 1
    std::uint64_t value = 0;
  };
  [[nodiscard]] static equation made_of(const terms& factors, std::uint64_t value);
  [[nodiscard]] equation reduced(equation rest) const;
  bool add(equation one);

  std::map<std::size_t, equation> equations_;  // by their first unknown
};

}  // namespace lab::emulator

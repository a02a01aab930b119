// Linear equations between whole numbers, added one by one. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace lab::emulator {

// Exact: numbers are residues modulo the prime 2^61 - 1, so that a chance of 10^-18 remains that an equation
// is taken for one that fits.
class linear_system {
 public:
  using terms = std::map<std::size_t, std::int64_t>;  // factor, by unknown

  // Of the sum of `factors` times their unknowns, where the equations determine it.
  [[nodiscard]] bool is_determined(const terms& factors) const;
  // Whether the sum can be `value` beside all that was added.
  [[nodiscard]] bool allows(const terms& factors, std::uint64_t value) const;
  // Adds that it is. False, and nothing is added, if it cannot be.
  bool add(const terms& factors, std::uint64_t value);

 private:
  struct equation {
    std::map<std::size_t, std::uint64_t> factors;  // none of them 0; the first one is 1
    std::uint64_t value = 0;
  };
  [[nodiscard]] equation reduced(const terms& factors, std::uint64_t value) const;

  std::map<std::size_t, equation> equations_;  // by their first unknown
};

}  // namespace lab::emulator

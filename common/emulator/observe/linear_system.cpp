#include "common/emulator/observe/linear_system.hpp"

#include <utility>

namespace lab::emulator {
namespace {

constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1;

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(a) * b % prime);
}
std::uint64_t negative(std::uint64_t a) {
  return a == 0 ? 0 : prime - a;
}
std::uint64_t residue(std::int64_t value) {
  const auto size = static_cast<std::uint64_t>(value < 0 ? -value : value) % prime;
  return value < 0 ? negative(size) : size;
}
// By Fermat's little theorem.
std::uint64_t inverse(std::uint64_t a) {
  std::uint64_t result = 1;
  for (std::uint64_t exponent = prime - 2; exponent != 0; exponent /= 2, a = product(a, a)) {
    if (exponent % 2 != 0) result = product(result, a);
  }
  return result;
}

}  // namespace

linear_system::equation linear_system::made_of(const terms& factors, std::uint64_t value) {
  equation made;
  made.value = value % prime;
  for (const auto& [unknown, factor] : factors) {
    if (const std::uint64_t one = residue(factor); one != 0) made.factors[unknown] = one;
  }
  return made;
}

linear_system::equation linear_system::reduced(equation rest) const {
  // An equation's other unknowns lie behind its first one.
  for (auto at = rest.factors.begin(); at != rest.factors.end();) {
    const auto known = equations_.find(at->first);
    if (known == equations_.end()) {
      ++at;
      continue;
    }
    const std::uint64_t times = negative(at->second);
    const std::size_t unknown = at->first;
    for (const auto& [other, factor] : known->second.factors) {
      std::uint64_t& sum = rest.factors[other];
      sum = (sum + product(times, factor)) % prime;
    }
    rest.value = (rest.value + product(times, known->second.value)) % prime;
    std::erase_if(rest.factors, [](const auto& one) { return one.second == 0; });
    at = rest.factors.upper_bound(unknown);
  }
  return rest;
}

bool linear_system::allows(const terms& factors, std::uint64_t value) const {
  const equation rest = reduced(made_of(factors, value));
  return !rest.factors.empty() || rest.value == 0;
}

// What is left of them has no unknown that one of the equations here begins with.
bool linear_system::allows(const std::vector<std::pair<terms, std::uint64_t>>& equations) const {
  linear_system rests;
  for (const auto& [factors, value] : equations) {
    if (!rests.add(reduced(made_of(factors, value)))) return false;
  }
  return true;
}

bool linear_system::add(const terms& factors, std::uint64_t value) {
  return add(made_of(factors, value));
}

bool linear_system::add(equation one) {
  equation rest = reduced(std::move(one));
  if (rest.factors.empty()) return rest.value == 0;
  const std::uint64_t scale = inverse(rest.factors.begin()->second);
  for (auto& [unknown, factor] : rest.factors) factor = product(factor, scale);
  rest.value = product(rest.value, scale);
  const std::size_t first = rest.factors.begin()->first;
  equations_.emplace(first, std::move(rest));
  return true;
}

}  // namespace lab::emulator

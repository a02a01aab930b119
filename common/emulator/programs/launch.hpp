// What a launch between chevrons, `kernel<<<grid, block>>>(arguments)`, is rewritten to
// (harness/front/emulate). The arguments are evaluated once and converted as a call of the kernel would
// convert them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include "common/emulator/core/diagnostics.hpp"
#include "common/emulator/core/runtime_api.hpp"
#include "common/emulator/core/thread_functions.hpp"

namespace lab::emulator {

// An argument that was written as 0 or NULL, where the kernel has a pointer: a call takes such a constant for
// a null pointer, and one that has come through a template does not.
struct null_or_number {
  long long value;
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr operator T() const { return static_cast<T>(value); }
  template <class T>
  constexpr operator T*() const {
    return nullptr;
  }
};

template <class T>
constexpr auto null_if_number(const T& argument) {
  if constexpr (std::is_integral_v<T>) {
    return null_or_number{static_cast<long long>(argument)};
  } else {
    return argument;
  }
}

// Whether the ABI hands such a parameter over by the address of a copy, which the caller makes and destroys.
template <class T>
inline constexpr bool is_passed_by_address =
    !(std::is_trivially_copy_constructible_v<T> && std::is_trivially_move_constructible_v<T> &&
      std::is_trivially_destructible_v<T>);

// A kernel's parameter. As on a GPU each thread gets the bytes of one copy, which is destroyed when the
// kernel has ended: constructors and destructors of parameters do not run in threads. No byte of it, and none
// between it and the next one, is left to chance: they tell launches that are alike (known_launches.hpp).
template <class T>
class kernel_parameter {
  static constexpr std::size_t alignment = alignof(T) > 16 ? alignof(T) : 16;

 public:
  // An argument of the parameter's own type is that copy, and its owner destroys it.
  template <class Argument>
  explicit kernel_parameter(Argument& argument) {
    if constexpr (std::is_same_v<T, Argument>) {
      std::memcpy(bytes_, static_cast<const void*>(std::addressof(argument)), sizeof(T));
    } else {
      if constexpr (std::is_pointer_v<T> && std::is_integral_v<Argument>) {
        new (bytes_) T(nullptr);
      } else {
        new (bytes_) T(argument);
      }
      is_owner_[0] = 1;
    }
  }
  kernel_parameter(const kernel_parameter&) = delete;
  kernel_parameter& operator=(const kernel_parameter&) = delete;
  ~kernel_parameter() {
    if (is_owner_[0] != 0) reinterpret_cast<T*>(bytes_)->~T();
  }

  // What a thread is given: the value, or its own bytes by reference.
  class of_thread {
   public:
    explicit of_thread(const kernel_parameter& parameter) {
      std::memcpy(bytes_, parameter.bytes_, sizeof(T));
    }
    using type = std::conditional_t<is_passed_by_address<T>, T&, T>;
    type get() { return *reinterpret_cast<T*>(bytes_); }

   private:
    alignas(T) unsigned char bytes_[sizeof(T)];
  };

 private:
  alignas(alignment) unsigned char bytes_[(sizeof(T) + alignment - 1) / alignment * alignment] = {};
  unsigned char is_owner_[alignment] = {};
};

// A reference to managed memory, say.
template <class T>
class kernel_parameter<T&> {
 public:
  template <class Argument>
  explicit kernel_parameter(Argument& argument) : object_(argument) {}

  class of_thread {
   public:
    explicit of_thread(const kernel_parameter& parameter) : object_(parameter.object_) {}
    using type = T&;
    type get() { return object_; }

   private:
    T& object_;
  };

 private:
  T& object_;
};
template <class T>
class kernel_parameter<T&&> : public kernel_parameter<T> {
 public:
  using kernel_parameter<T>::kernel_parameter;
};

template <class... Parameters>
constexpr std::size_t count_of_parameters(void (*)(Parameters...)) {
  return sizeof...(Parameters);
}

template <class... Parameters>
constexpr bool has_references(void (*)(Parameters...)) {
  return (std::is_reference_v<Parameters> || ...);
}

// What the address of a kernel is asked with: a function where the name means one alone.
struct take_address {
  template <class Kernel>
  requires std::is_function_v<Kernel> Kernel* operator()(Kernel* kernel) const { return kernel; }
};

// The same for a template whose arguments are deduced, if its parameters are what the arguments are.
template <class... Arguments>
struct take_address_for {
  auto operator()(void (*kernel)(Arguments...)) const { return kernel; }
};

// What stands behind a kernel with __launch_bounds__(threads), where the kernel's name means one function.
template <class Use>
bool bound_kernel(Use use, long long threads) {
  if constexpr (std::is_invocable_v<Use, take_address>) {
    if (threads > 0 && threads <= block_size_limit)
      set_block_limit(reinterpret_cast<const void*>(use(take_address{})), static_cast<std::size_t>(threads));
  }
  return true;
}

// A launch that waits for the kernel's arguments. `call` calls the kernel; `use` hands its name to a
// function, and `name` is how the program writes it.
template <class Call, class Use>
class chevron_launch {
  static constexpr bool wants_references() {
    if constexpr (std::is_invocable_v<Use, take_address>) {
      return has_references(static_cast<std::invoke_result_t<Use, take_address>>(nullptr));
    } else {
      return false;
    }
  }

 public:
  chevron_launch(const cudaLaunchConfig_t& config, Call call, Use use, const char* name)
      : config_(config), call_(call), use_(use), name_(name) {}

  // Arguments are copied, as a launch copies them; a kernel that takes references gets the arguments
  // themselves.
  template <class... Arguments>
  requires(!wants_references()) void operator()(Arguments... arguments) const { start(arguments...); }
  template <class... Arguments>
  requires(wants_references()) void operator()(Arguments&&... arguments) const { start(arguments...); }

 private:
  template <class... Arguments>
  void start(Arguments&... arguments) const {
    if constexpr (std::is_invocable_v<Use, take_address>) {
      const auto kernel = use_(take_address{});
      if constexpr (count_of_parameters(static_cast<decltype(use_(take_address{}))>(nullptr)) ==
                    sizeof...(Arguments))
        return with_pointer(kernel, arguments...);
      else
        return with_call(reinterpret_cast<const void*>(kernel), arguments...);
    } else if constexpr (std::is_invocable_v<Use, take_address_for<Arguments...>>) {
      return with_pointer(use_(take_address_for<Arguments...>{}), arguments...);
    } else {
      return with_call(nullptr, arguments...);
    }
  }

  // As the kernel gets it: an array has become a pointer.
  template <class Parameter, class Argument>
  static const void* address_of_object(const Argument& argument) {
    if constexpr (std::is_pointer_v<Parameter> && std::is_convertible_v<const Argument&, Parameter>) {
      return object_address(static_cast<Parameter>(argument));
    } else {
      return nullptr;
    }
  }

  template <class... Parameters, class... Arguments>
  void with_pointer(void (*kernel)(Parameters...), Arguments&... arguments) const {
    struct bound_kernel {
      void (*kernel)(Parameters...);
      std::uintptr_t no_gap;
      std::tuple<kernel_parameter<std::remove_cv_t<Parameters>>...> parameters;
    };
    const bound_kernel bound{kernel, 0,
                             std::tuple<kernel_parameter<std::remove_cv_t<Parameters>>...>(arguments...)};
    const auto run_thread = [](const void* opaque) {
      const auto& self = *static_cast<const bound_kernel*>(opaque);
      // The ABI is the same for a reference and for what is passed by address.
      using as_called = void (*)(typename kernel_parameter<std::remove_cv_t<Parameters>>::of_thread::type...);
      std::apply(
          [kernel = reinterpret_cast<as_called>(self.kernel)](const auto&... parameters) {
            kernel(typename std::remove_cvref_t<decltype(parameters)>::of_thread(parameters).get()...);
          },
          self.parameters);
    };
    const std::array<const void*, sizeof...(Parameters) + 1> addresses{
        address_of_object<Parameters>(arguments)..., nullptr};
    launch(config_, {reinterpret_cast<const void*>(kernel), run_thread, &bound, sizeof bound,
                     addresses.data(), sizeof...(Parameters)});
  }

  // The name alone does not say which kernel it is, or it has default arguments.
  template <class... Arguments>
  void with_call(const void* kernel, Arguments&... arguments) const {
    struct bound_call {
      Call call;
      std::tuple<Arguments...> arguments;
    };
    const bound_call bound{call_, {arguments...}};
    const auto run_thread = [](const void* opaque) {
      const auto& self = *static_cast<const bound_call*>(opaque);
      std::apply(
          [&self](const Arguments&... copies) {
            if constexpr (std::is_invocable_v<const Call&, Arguments...>) {
              self.call(copies...);
            } else {
              self.call(null_if_number(copies)...);
            }
          },
          self.arguments);
    };
    const auto id = kernel != nullptr
                        ? kernel
                        : reinterpret_cast<const void*>(static_cast<void (*)(const void*)>(run_thread));
    if (kernel == nullptr) name_kernel(id, name_);
    const std::array<const void*, sizeof...(Arguments) + 1> addresses{object_address(arguments)..., nullptr};
    launch(config_, {id, run_thread, &bound, sizeof bound, addresses.data(), sizeof...(Arguments)});
  }

  cudaLaunchConfig_t config_;
  Call call_;
  Use use_;
  const char* name_;
};

struct chevron_config {
  cudaLaunchConfig_t config;
  template <class Call, class Use>
  auto operator()(Call call, Use use, const char* name) const {
    return chevron_launch<Call, Use>(config, call, use, name);
  }
};

// The four values between the chevrons.
inline chevron_config chevrons(dim3 grid, dim3 block, std::size_t dynamic_shared_bytes = 0,
                               cudaStream_t stream = nullptr) {
  return {{grid, block, dynamic_shared_bytes, stream}};
}

// name[i] of a __shared__ array of the program's: where it lies beyond the array, the thread stops before it
// touches what lies there.
void refuse_beyond(const char* name, const void* array, std::size_t bytes, const void* element, place where);
void check_within(const char* name, const void* array, std::size_t bytes, const void* element,
                  std::size_t element_bytes, place where);
template <class T>
[[gnu::always_inline]] inline const void* address_of(const T& object) {
  return const_cast<const void*>(static_cast<const volatile void*>(std::addressof(object)));
}
template <class Array, class Element>
[[gnu::always_inline]] inline Element&& within(const char* name, const Array& array, Element&& element,
                                               place where = place::here()) {
  if constexpr (std::is_bounded_array_v<Array>) {
    const void* const begin = address_of(array);
    const void* const at = address_of(element);
#if LAB_EMULATOR_OBSERVED
    // Without a branch that would be counted as the kernel's.
    check_within(name, begin, sizeof array, at, sizeof element, where);
#else
    if (reinterpret_cast<std::uintptr_t>(at) - reinterpret_cast<std::uintptr_t>(begin) >
        sizeof array - sizeof element) [[unlikely]]
      refuse_beyond(name, begin, sizeof array, at, where);
#endif
  }
  return static_cast<Element&&>(element);
}

// What `extern __shared__ T name[];` is bound to.
struct dynamic_shared_memory {
  template <class T>
  operator T&() const {
    return *reinterpret_cast<T*>(lab_dynamic_shared);
  }
};

// What a warp does after a statement of code that counts on its lanes going together: programs older than
// Volta, which exchange values by volatile shared memory without __syncwarp(). The lanes that are here wait
// for one another.
inline void lockstep(place where = place::here()) {
  wait_for_lanes({collective::active_mask, "a volatile exchange", 1u << lane(), where});
}

// The value that such a statement stores: no lane stores before all have read.
template <class T>
T after_lockstep(T value, place where = place::here()) {
  lockstep(where);
  return value;
}

// assert() of a kernel ends the kernel; the host's ends the program.
[[noreturn]] void assertion_failed(const char* assertion, const char* file, unsigned line,
                                   const char* function);

}  // namespace lab::emulator

// An object that is there before the program's own global objects are made, and still there when they are
// destroyed: their constructors and destructors call the runtime. Internal.
#pragma once

#include <new>

namespace lab::emulator {

// As a global variable it needs [[gnu::init_priority(101)]]; within a function it is made at its first use.
template <class T>
class never_destroyed {
 public:
  never_destroyed() { new (bytes_) T(); }
  never_destroyed(const never_destroyed&) = delete;
  never_destroyed& operator=(const never_destroyed&) = delete;
  ~never_destroyed() = default;

  T* operator->() { return std::launder(reinterpret_cast<T*>(bytes_)); }
  T& operator*() { return *operator->(); }

 private:
  alignas(T) unsigned char bytes_[sizeof(T)];
};

}  // namespace lab::emulator

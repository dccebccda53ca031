// operators.cuh -- the functions that operators' CUDA expressions call by name (binary.py: cuda="quotient(x, y)").
//
// Callers: the prelude of a kernel, one inline function per operator, whose value it converts with cast<Z>.
// Operands x and y arrive converted to the operator's type, by cast<T>.
// Semantics are SuiteSparse:GraphBLAS's, also in edge cases (x / 0, NaN, overflow); numpy_functions.py is the counterpart.
// Signed integers are expected to wrap: a host compiler needs -fwrapv.
//
// Requires: i8 .. u64 in namespace szc (portability.cuh) and CUDA's math functions. It includes no header, as NVRTC has
// none.
#pragma once
namespace szc {

// ---- the eleven types ---------------------------------------------------------------------------------------------
template <class T> struct Limits;
template <> struct Limits<bool> { static constexpr bool low = false, high = true; };
template <> struct Limits<i8>  { static constexpr i8  low = -128, high = 127; };
template <> struct Limits<i16> { static constexpr i16 low = -32768, high = 32767; };
template <> struct Limits<i32> { static constexpr i32 low = -2147483647 - 1, high = 2147483647; };
template <> struct Limits<i64> { static constexpr i64 low = -9223372036854775807ll - 1, high = 9223372036854775807ll; };
template <> struct Limits<u8>  { static constexpr u8  low = 0, high = 255; };
template <> struct Limits<u16> { static constexpr u16 low = 0, high = 65535; };
template <> struct Limits<u32> { static constexpr u32 low = 0, high = 4294967295u; };
template <> struct Limits<u64> { static constexpr u64 low = 0, high = 18446744073709551615ull; };

template <class T> constexpr bool is_bool = false;
template <> constexpr bool is_bool<bool> = true;
template <class T> constexpr bool is_float = false;
template <> constexpr bool is_float<float> = true;
template <> constexpr bool is_float<double> = true;
template <class T> constexpr bool is_complex = false;  // complex.cuh has those that are
template <class T> constexpr bool is_signed = T(-1) < T(0);
template <> constexpr bool is_signed<bool> = false;
template <class T> constexpr int bits_of = 8 * int(sizeof(T));

// Integers wrap; floats saturate when converted to integers and NaN becomes 0; every number but zero is true.
// float(high) of a 64-bit type is 2^63 or 2^64, already outside: so >= picks high.
template <class T, class S> __device__ __forceinline__ T cast(S v) {
  if constexpr (is_bool<T>) {
    return v != S(0);
  } else if constexpr (is_float<S> && !is_float<T> && !is_complex<T>) {
    if (v != v) return T(0);
    if (v <= S(Limits<T>::low)) return Limits<T>::low;
    if (v >= S(Limits<T>::high)) return Limits<T>::high;
    return T(v);
  } else {
    return T(v);
  }
}

// ---- choosing ---------------------------------------------------------------------------------------------------
// A number rather than a NaN.
template <class T> __device__ __forceinline__ T lesser(T x, T y) {
  if constexpr (is_float<T>) return fmin(x, y);
  else return y < x ? y : x;
}
template <class T> __device__ __forceinline__ T greater(T x, T y) {
  if constexpr (is_float<T>) return fmax(x, y);
  else return x < y ? y : x;
}

// ---- arithmetic -------------------------------------------------------------------------------------------------
// The smallest signed integer is its own absolute value.
template <class T> __device__ __forceinline__ T absolute(T x) {
  if constexpr (is_float<T>) return fabs(x);
  else if constexpr (is_signed<T>) return x < 0 ? T(-x) : x;
  else return x;
}

// -1, 0 or 1; NaN stays.
template <class T> __device__ __forceinline__ T sign_of(T x) { return x != x ? x : T((x > 0) - (x < 0)); }

// x / y towards zero. Integers: x / 0 is the end of the type on x's side, 0 / 0 is 0. Of booleans: x.
template <class T> __device__ __forceinline__ T quotient(T x, T y) {
  if constexpr (is_bool<T>) {
    return x;
  } else if constexpr (is_float<T>) {
    return x / y;
  } else {
    if (y == 0) return x == 0 ? T(0) : x < 0 ? Limits<T>::low : Limits<T>::high;
    if (is_signed<T> && y == T(-1)) return T(-x);  // low / -1 would trap
    return T(x / y);
  }
}

// x / y rounded down, and its remainder; integers by zero give 0 for both.
template <class T> __device__ __forceinline__ T modulo(T x, T y) {
  if constexpr (is_float<T>) {
    T rest = fmod(x, y);
    if (rest != 0) return (y < 0) != (rest < 0) ? rest + y : rest;
    return copysign(rest, y);
  } else {
    if (y == 0 || (is_signed<T> && y == T(-1))) return T(0);
    T rest = T(x % y);
    return rest != 0 && (y < 0) != (rest < 0) ? T(rest + y) : rest;
  }
}
template <class T> __device__ __forceinline__ T floor_quotient(T x, T y) {
  if constexpr (is_float<T>) {
    if (y == 0) return x / y;
    T rest = fmod(x, y);
    T whole = (x - rest) / y;
    if (rest != 0 && (y < 0) != (rest < 0)) whole -= T(1);
    if (whole == 0) return copysign(T(0), x / y);
    T down = floor(whole);
    return whole - down > T(0.5) ? down + T(1) : down;
  } else {
    if (y == 0) return T(0);
    T whole = quotient(x, y);
    return is_signed<T> && y != T(-1) && T(whole * y) != x && (x < 0) != (y < 0) ? T(whole - 1) : whole;
  }
}

// x to the y for integers, as a double: exact below 2^64 before rounding, as in C. CUDA's pow is off by one
// unit there, and 2.9999999999999996 truncated to an integer is 2.
__device__ __forceinline__ double whole_power(double x, double y) {
  const double m = fabs(x);
  if (m > 1 && m < 18446744073709551616.0 && y >= 0) {  // 2^64
    const u64 most = ~u64(0);
    u64 base = u64(m), result = 1;
    bool fits = true;
    for (u64 n = y < 64 ? u64(y) : 64; fits && n != 0; n >>= 1) {
      if (n & 1) {
        fits = result <= most / base;
        result *= base;
      }
      if (n > 1) {
        fits = fits && base <= most / base;
        base *= base;
      }
    }
    if (fits) return x < 0 && u64(y) % 2 ? -double(result) : double(result);
  }
  return y == 0 ? 1.0 : pow(x, y);
}

// Through double, saturating. Of booleans: x or not y. NaN wins over a zero exponent.
template <class T> __device__ __forceinline__ T power(T x, T y) {
  if constexpr (is_bool<T>) {
    return x || !y;
  } else if constexpr (is_float<T>) {
    return x != x || y != y ? x + y : pow(x, y);
  } else {
    return cast<T>(whole_power(double(x), double(y)));
  }
}

// Python's **: integers wrap; a negative exponent gives 0, but 1 or -1 for those bases.
template <class T> __device__ __forceinline__ T integer_power(T x, T y) {
  if constexpr (is_float<T>) {
    return pow(x, y);
  } else {
    if (is_signed<T> && y < 0 && x != T(1) && x != T(-1)) return T(0);
    u64 base = u64(x), result = 1;
    for (u64 n = y < 0 ? u64(0) - u64(y) : u64(y); n != 0; n >>= 1) {
      if (n & 1) result *= base;
      base *= base;
    }
    return T(result);
  }
}

// n choose k; 0 outside 0..n, and if an intermediate product exceeds i64.
__device__ __forceinline__ i64 binomial(i64 n, i64 k) {
  if (k > n || k < 0) return 0;
  if (k > n - k) k = n - k;
  i64 value = 1;
  for (i64 step = 0; step < k; ++step) {
    if (value > Limits<i64>::high / (n - step)) return 0;
    value = value * (n - step) / (step + 1);
  }
  return value;
}

// The greatest common divisor and the least common multiple, of 0 the other and 0; the latter wraps.
template <class T> __device__ __forceinline__ T gcd_of(T x, T y) {
  u64 a = x < T(0) ? u64(0) - u64(x) : u64(x), b = y < T(0) ? u64(0) - u64(y) : u64(y);
  while (b != 0) {
    const u64 rest = a % b;
    a = b;
    b = rest;
  }
  return T(a);
}
template <class T> __device__ __forceinline__ T lcm_of(T x, T y) {
  if (x == T(0) || y == T(0)) return T(0);
  const u64 a = x < T(0) ? u64(0) - u64(x) : u64(x), b = y < T(0) ? u64(0) - u64(y) : u64(y);
  return T(a / u64(gcd_of(x, y)) * b);
}

// 1 / x of floats; complex.cuh has that of complex numbers.
template <class T> __device__ __forceinline__ T reciprocal_of(T x) { return T(1) / x; }

// The distance to the next number away from 0, with x's sign.
template <class T> __device__ __forceinline__ T spacing_of(T x) {
  const T size = x < T(0) ? -x : x;
  return copysign(nextafter(size, size + size + T(1)) - size, x);
}

// ---- parts of floats --------------------------------------------------------------------------------------------
template <class T> __device__ __forceinline__ bool is_finite(T x) { return x - x == T(0); }
template <class T> __device__ __forceinline__ bool is_infinite(T x) { return x == x && x - x != T(0); }
template <class T> __device__ __forceinline__ T mantissa_of(T x) { int e = 0; return frexp(x, &e); }
template <class T> __device__ __forceinline__ T exponent_of(T x) { int e = 0; frexp(x, &e); return is_finite(x) ? T(e) : T(0); }

// ---- bits, counted from 1 ---------------------------------------------------------------------------------------
template <class T> __device__ __forceinline__ bool names_bit(T y) { return y >= T(1) && y <= T(bits_of<T>); }
template <class T> __device__ __forceinline__ T bit_get(T x, T y) { return names_bit(y) ? T((u64(x) >> (int(y) - 1)) & 1) : T(0); }
template <class T> __device__ __forceinline__ T bit_set(T x, T y) { return names_bit(y) ? T(u64(x) | (u64(1) << (int(y) - 1))) : x; }
template <class T> __device__ __forceinline__ T bit_clear(T x, T y) { return names_bit(y) ? T(u64(x) & ~(u64(1) << (int(y) - 1))) : x; }

// Left by y bits, or right by -y with x's sign; y is read as i8.
template <class T> __device__ __forceinline__ T bit_shift(T x, T y) {
  const int by = i8(y);
  if (by >= bits_of<T>) return T(0);
  if (by <= -bits_of<T>) return x < 0 ? T(-1) : T(0);
  return by >= 0 ? T(u64(x) << by) : T(x >> -by);
}

}  // namespace szc

// complex.cuh -- complex numbers, c64 and c128, and the functions that operators' expressions call on them by name.
//
// Included after operators.cuh, by kernels with complex numbers only. Functions that CUDA
// has under the same name for real numbers (sqrt, __shfl_sync, atomicAdd ...) are friends here, found by argument type
// alone, so that CUDA's stay visible. Semantics are SuiteSparse:GraphBLAS's; numpy_functions.py is the NumPy counterpart.
//
// Sources: W. Kahan, Branch cuts for complex elementary functions, 1987 (sqrt and the inverse functions);
// R. L. Smith, Algorithm 116: complex division, CACM 1962, doi:10.1145/368637.368661.
#pragma once
namespace szc {

#define FRIEND friend __device__ __forceinline__

// Trivially copyable and constructible, so that shared memory and kernel parameters may be of this type.
template <class R> struct alignas(2 * sizeof(R)) Complex {
  R re, im;

  Complex() = default;
  __device__ __forceinline__ constexpr Complex(R real, R imaginary = R(0)) : re(real), im(imaginary) {}
  // From either precision, and from volatile memory. A template is no copy constructor: copies stay trivial.
  template <class S>
  __device__ __forceinline__ Complex(const volatile Complex<S>& z) : re(R(z.re)), im(R(z.im)) {}

  // ---- arithmetic and comparison ------------------------------------------------------------------------------------
  FRIEND Complex operator-(Complex z) { return Complex(-z.re, -z.im); }
  FRIEND Complex operator+(Complex x, Complex y) { return Complex(x.re + y.re, x.im + y.im); }
  FRIEND Complex operator-(Complex x, Complex y) { return Complex(x.re - y.re, x.im - y.im); }
  FRIEND Complex operator*(Complex x, Complex y) { return Complex(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re); }
  FRIEND Complex operator/(Complex x, Complex y) {
    if (y.im == 0) return Complex(x.re / y.re, x.im / y.re);
    if (y.re == 0) return Complex(x.im / y.im, -x.re / y.im);
    if (fabs(y.re) < fabs(y.im)) {
      const R r = y.re / y.im, d = r * y.re + y.im;
      return Complex((x.re * r + x.im) / d, (x.im * r - x.re) / d);
    }
    const R r = y.im / y.re, d = r * y.im + y.re;
    return Complex((x.re + x.im * r) / d, (x.im - x.re * r) / d);
  }
  FRIEND bool operator==(Complex x, Complex y) { return x.re == y.re && x.im == y.im; }
  FRIEND bool operator!=(Complex x, Complex y) { return !(x == y); }
  FRIEND bool operator<(Complex x, Complex y) { return x.re < y.re || (x.re == y.re && x.im < y.im); }  // NumPy's order

  // ---- part by part ---------------------------------------------------------------------------------------------------
  FRIEND Complex ceil(Complex z) { return Complex(ceil(z.re), ceil(z.im)); }
  FRIEND Complex floor(Complex z) { return Complex(floor(z.re), floor(z.im)); }
  FRIEND Complex round(Complex z) { return Complex(round(z.re), round(z.im)); }
  FRIEND Complex trunc(Complex z) { return Complex(trunc(z.re), trunc(z.im)); }

  // ---- exponentials and logarithms --------------------------------------------------------------------------------------
  FRIEND Complex exp(Complex z) { return polar(exp(z.re), z.im); }
  FRIEND Complex exp2(Complex z) { return polar(exp2(z.re), z.im * R(0.69314718055994530942)); }
  FRIEND Complex expm1(Complex z) {
    const R half = sin(z.im / 2), grown = expm1(z.re);
    return Complex(grown * cos(z.im) - 2 * half * half, z.im == 0 ? z.im : (grown + 1) * sin(z.im));
  }
  FRIEND Complex log(Complex z) { return Complex(log_size(z), atan2(z.im, z.re)); }
  FRIEND Complex log2(Complex z) { return log(z) * R(1.44269504088896340736); }
  FRIEND Complex log10(Complex z) { return log(z) * R(0.43429448190325182765); }
  FRIEND Complex log1p(Complex z) {
    if (fabs(z.re) > R(0.5) || fabs(z.im) > R(0.5)) return log(Complex(1 + z.re, z.im));
    return Complex(log1p(z.re * (2 + z.re) + z.im * z.im) / 2, atan2(z.im, 1 + z.re));
  }

  // ---- roots, angles and their inverses ---------------------------------------------------------------------------------
  FRIEND Complex sqrt(Complex z) {
    const R size = hypot(z.re, z.im);
    if (size == 0) return Complex(0, z.im);
    const R root = sqrt((size + fabs(z.re)) / 2), other = z.im / (2 * root);
    return z.re >= 0 ? Complex(root, other) : Complex(fabs(other), copysign(root, z.im));
  }
  FRIEND Complex sinh(Complex z) { return Complex(sinh(z.re) * cos(z.im), cosh(z.re) * sin(z.im)); }
  FRIEND Complex cosh(Complex z) { return Complex(cosh(z.re) * cos(z.im), sinh(z.re) * sin(z.im)); }
  FRIEND Complex tanh(Complex z) {
    if (fabs(z.re) > 20) return Complex(copysign(R(1), z.re), 2 * sin(2 * z.im) * exp(-2 * fabs(z.re)));
    const R d = cosh(2 * z.re) + cos(2 * z.im);
    return Complex(sinh(2 * z.re) / d, sin(2 * z.im) / d);
  }
  FRIEND Complex sin(Complex z) { return over_i(sinh(by_i(z))); }
  FRIEND Complex cos(Complex z) { return cosh(by_i(z)); }
  FRIEND Complex tan(Complex z) { return over_i(tanh(by_i(z))); }
  FRIEND Complex asin(Complex z) {
    const Complex a = sqrt(Complex(1 - z.re, -z.im)), b = sqrt(Complex(1 + z.re, z.im));
    return Complex(atan2(z.re, a.re * b.re - a.im * b.im), asinh(a.re * b.im - a.im * b.re));
  }
  FRIEND Complex acos(Complex z) {
    const Complex a = sqrt(Complex(1 - z.re, -z.im)), b = sqrt(Complex(1 + z.re, z.im));
    return Complex(2 * atan2(a.re, b.re), asinh(b.re * a.im - b.im * a.re));
  }
  FRIEND Complex acosh(Complex z) {
    const Complex a = sqrt(Complex(z.re - 1, z.im)), b = sqrt(Complex(z.re + 1, z.im));
    return Complex(asinh(a.re * b.re + a.im * b.im), 2 * atan2(a.im, b.re));
  }
  FRIEND Complex asinh(Complex z) { return over_i(asin(by_i(z))); }
  FRIEND Complex atanh(Complex z) {
    const R near = (1 - z.re) * (1 - z.re) + z.im * z.im;
    return Complex(log1p(4 * z.re / near) / 4, atan2(2 * z.im, (1 - z.re) * (1 + z.re) - z.im * z.im) / 2);
  }
  FRIEND Complex atan(Complex z) { return over_i(atanh(by_i(z))); }

  static __device__ __forceinline__ Complex polar(R size, R angle) { return Complex(size * cos(angle), size * sin(angle)); }
  FRIEND Complex by_i(Complex z) { return Complex(-z.im, z.re); }
  FRIEND Complex over_i(Complex z) { return Complex(z.im, -z.re); }
  // The logarithm of |z|, exact where |z| is about 1.
  FRIEND R log_size(Complex z) {
    const R size = hypot(z.re, z.im), a = fmax(fabs(z.re), fabs(z.im)), b = fmin(fabs(z.re), fabs(z.im));
    return size > R(0.5) && size < R(2) ? log1p((a - 1) * (a + 1) + b * b) / 2 : log(size);
  }

  // ---- among the lanes of a warp, and from many threads ---------------------------------------------------------------
  FRIEND Complex __shfl_sync(unsigned m, Complex z, int from) {
    return Complex(__shfl_sync(m, z.re, from), __shfl_sync(m, z.im, from));
  }
  FRIEND Complex __shfl_up_sync(unsigned m, Complex z, unsigned by) {
    return Complex(__shfl_up_sync(m, z.re, by), __shfl_up_sync(m, z.im, by));
  }
  FRIEND Complex __shfl_down_sync(unsigned m, Complex z, unsigned by) {
    return Complex(__shfl_down_sync(m, z.re, by), __shfl_down_sync(m, z.im, by));
  }
  FRIEND Complex __shfl_xor_sync(unsigned m, Complex z, int by) {
    return Complex(__shfl_xor_sync(m, z.re, by), __shfl_xor_sync(m, z.im, by));
  }
  // Each part is added by an atomic of its own: no thread reads the sum before all have added.
  FRIEND void atomicAdd(Complex* p, Complex z) {
    atomicAdd(&p->re, z.re);
    atomicAdd(&p->im, z.im);
  }
};
#undef FRIEND

typedef Complex<float> c64;
typedef Complex<double> c128;
template <class R> constexpr bool is_complex<Complex<R>> = true;

// A complex number converts to its real part; to bool, it is true if either part is not zero.
template <class T, class R> __device__ __forceinline__ T cast(Complex<R> z) {
  if constexpr (is_complex<T>) return T(z);
  else if constexpr (is_bool<T>) return z.re != 0 || z.im != 0;
  else return cast<T>(z.re);
}

template <class R> __device__ __forceinline__ R absolute(Complex<R> z) { return hypot(z.re, z.im); }
template <class R> __device__ __forceinline__ Complex<R> conjugate(Complex<R> z) { return Complex<R>(z.re, -z.im); }
template <class R> __device__ __forceinline__ bool is_finite(Complex<R> z) { return is_finite(z.re) && is_finite(z.im); }
template <class R> __device__ __forceinline__ bool is_infinite(Complex<R> z) { return is_infinite(z.re) || is_infinite(z.im); }
template <class R> __device__ __forceinline__ Complex<R> quotient(Complex<R> x, Complex<R> y) { return x / y; }

// 1 / z, with NumPy's sign of a zero; Complex(1) / z would be NaN in both parts for 0.
template <class R> __device__ __forceinline__ Complex<R> reciprocal_of(Complex<R> z) {
  if (fabs(z.im) <= fabs(z.re)) {
    const R r = z.im / z.re, d = z.re + z.im * r;
    return Complex<R>(1 / d, -r / d);
  }
  const R r = z.re / z.im, d = z.re * r + z.im;
  return Complex<R>(r / d, -1 / d);
}

// z / |z|; 0 for 0.
template <class R> __device__ __forceinline__ Complex<R> sign_of(Complex<R> z) {
  const R size = hypot(z.re, z.im);
  return size == 0 ? Complex<R>(0) : Complex<R>(z.re / size, z.im / size);
}

template <class R> __device__ __forceinline__ Complex<R> power(Complex<R> x, Complex<R> y) {
  if (y == Complex<R>(0)) return Complex<R>(1);
  if (x == Complex<R>(0)) return Complex<R>(y.re > 0 ? R(0) : R(0) / R(0));
  if (y.im == 0 && y.re == trunc(y.re) && fabs(y.re) <= 64) {  // by squares: exact where products are
    Complex<R> square = x, result = Complex<R>(1);
    for (u32 n = (u32)fabs(y.re); n != 0; n >>= 1) {
      if (n & 1) result = result * square;
      square = square * square;
    }
    return y.re > 0 ? result : Complex<R>(1) / result;
  }
  return exp(y * log(x));
}
template <class R> __device__ __forceinline__ Complex<R> integer_power(Complex<R> x, Complex<R> y) { return power(x, y); }

}  // namespace szc

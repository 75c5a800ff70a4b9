/* The logarithm of the gamma function, and its derivative. */
#ifndef IDM_BASE_GAMMA_H
#define IDM_BASE_GAMMA_H

static const double idm_half_log_two_pi = 0.91893853320467274178;

/* log Gamma(x) for x > 0, to about 1e-14 of max(1, |log Gamma|). lgamma writes the global signgam,
 * so threads may not share it. */
double idm_log_gamma(double x);
/* Its derivative at x > 0: the recurrence up to 8, then the asymptotic series, whose first term
 * left out is below 1e-14 there (Abramowitz and Stegun 6.3.18). */
double idm_digamma(double x);
/* log Gamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2) for x >= 10, by Stirling's series
 * (Abramowitz and Stegun 6.1.41): the first term left out is at most 3e-17. */
double idm_stirling_rest(double x);

#endif

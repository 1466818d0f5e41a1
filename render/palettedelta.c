/*
 * The colour of a difference.
 *
 * It is the same as on a page in its light theme (changeColor in
 * render/assets/page/page_color.js): vermilion for growth and blue for less, which people with
 * colour blindness can tell apart (t0589 compares both, t0576 measures how far apart they are).
 * Formula: Oklch, the polar form of B. Ottosson's Oklab ("A perceptual color space for image
 * processing", 2020), with its matrices, and the transfer function of sRGB (IEC 61966-2-1).
 */
#include <math.h>

#include "render/palette.h"

#define PI 3.14159265358979323846

#define HUE_MORE 45.0 /* degrees */
#define HUE_LESS 245.0

static uint8_t channel(double linear)
{
    double c = fmin(fmax(linear, 0), 1);

    c = c <= 0.0031308 ? 12.92 * c : 1.055 * pow(c, 1 / 2.4) - 0.055;
    return (uint8_t)floor(255 * c + 0.5);
}

static double cube(double v)
{
    return v * v * v;
}

static struct rgb oklch(double light, double chroma, double degrees)
{
    double a = chroma * cos(degrees * PI / 180), b = chroma * sin(degrees * PI / 180);
    double l = cube(light + 0.3963377774 * a + 0.2158037573 * b);
    double m = cube(light - 0.1055613458 * a - 0.0638541728 * b);
    double s = cube(light - 0.0894841775 * a - 1.291485548 * b);

    return (struct rgb){channel(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
                        channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
                        channel(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s)};
}

struct rgb palette_delta(double delta, double largest)
{
    /* The root of the share: most differences are small against the largest one. */
    double share = largest > 0 ? sqrt(fmin(fabs(delta) / largest, 1)) : 0;

    if (share <= 0)
        return (struct rgb){217, 220, 225};
    return oklch(0.92 - 0.18 * share, 0.03 + 0.13 * share, delta > 0 ? HUE_MORE : HUE_LESS);
}

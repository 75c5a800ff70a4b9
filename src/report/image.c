/* Writes figures to files: SVG directly, PNG and PDF through librsvg and cairo.
 *
 * GLib and librsvg end the process if memory is exhausted. The program therefore draws images in a
 * child process (idm_figure_write_isolated). A library must not fork its host, which may have other
 * threads, so idm_figure_write draws in the calling process.
 *
 * Contents: libraries · text · drawing · drawing process · figures */
#include <cairo-pdf.h>
#include <cairo.h>
#include <errno.h>
#include <fcntl.h>
#include <librsvg/rsvg.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/system.h"
#include "io/file.h"
#include "report/report.h"

/* Pixels of an image per pixel of the page, for sharp images on screens and in print. */
static const double pixel_scale = 2;

/* --- libraries ------------------------------------------------------------------------------ */

/* Functions of librsvg, and of cairo, which librsvg loads. They are loaded with the first image,
 * since they load fifty libraries. */
#define CAIRO_FUNCTIONS(X)                                                                         \
  X(rsvg_handle_new_from_data)                                                                     \
  X(rsvg_handle_get_intrinsic_size_in_pixels)                                                      \
  X(rsvg_handle_render_document)                                                                   \
  X(cairo_create)                                                                                  \
  X(cairo_scale)                                                                                   \
  X(cairo_destroy)                                                                                 \
  X(cairo_pdf_surface_create_for_stream)                                                           \
  X(cairo_image_surface_create)                                                                    \
  X(cairo_surface_write_to_png_stream)                                                             \
  X(cairo_surface_finish)                                                                          \
  X(cairo_surface_status)                                                                          \
  X(cairo_surface_destroy)                                                                         \
  X(g_object_unref)

/* Set by load_library. */
static struct {
  CAIRO_FUNCTIONS(IDM_LIBRARY_POINTER)
} cairo_functions;

#define CAIRO_SYMBOL(name) IDM_LIBRARY_SYMBOL(cairo_functions, name)
static const idm_symbol cairo_symbols[] = {CAIRO_FUNCTIONS(CAIRO_SYMBOL)};

/* Load the functions, once. Returns false where librsvg is not installed. */
static bool load_library(void)
{
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static bool loaded;
  pthread_mutex_lock(&mutex);
  loaded = loaded || idm_library_load(IDM_RSVG_LIBRARY, cairo_symbols,
                                      sizeof cairo_symbols / sizeof *cairo_symbols);
  const bool available = loaded;
  pthread_mutex_unlock(&mutex);
  return available;
}

/* --- text ----------------------------------------------------------------------------------- */

static bool ends_with(const char *path, const char *ending)
{
  const size_t length = strlen(path), tail = strlen(ending);
  return length >= tail && strcasecmp(path + length - tail, ending) == 0;
}

static idm_status write_text(char *text, const char *path, idm_error *opt_error)
{
  idm_file *file;
  const idm_status status = idm_file_create(path, &file, opt_error);
  if (status == IDM_OK) idm_file_write(file, text, strlen(text));
  free(text);
  return status == IDM_OK ? idm_file_commit(file, opt_error) : status;
}

/* --- drawing -------------------------------------------------------------------------------- */

enum { DRAWN, NOT_DRAWN, NO_LIBRARY };

/* Receiver of the bytes of an image: a file or, if that is NULL, a pipe. */
typedef struct image_output {
  idm_file *file;
  int descriptor;
} image_output;

static cairo_status_t send_bytes(void *context, const unsigned char *data, unsigned int length)
{
  const image_output *output = context;
  if (output->file) {
    idm_file_write(output->file, (const char *)data, length);
    return CAIRO_STATUS_SUCCESS; /* idm_file_commit reports errors */
  }
  while (length) {
    const ssize_t sent = write(output->descriptor, data, length);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return CAIRO_STATUS_WRITE_ERROR;
    data += sent;
    length -= (unsigned int)sent;
  }
  return CAIRO_STATUS_SUCCESS;
}

static bool render(RsvgHandle *handle, cairo_surface_t *surface, double width, double height,
                   double scale)
{
  const RsvgRectangle whole = {0, 0, width, height};
  cairo_t *cairo = cairo_functions.cairo_create(surface);
  cairo_functions.cairo_scale(cairo, scale, scale);
  const bool drawn = cairo_functions.rsvg_handle_render_document(handle, cairo, &whole, NULL);
  cairo_functions.cairo_destroy(cairo);
  return drawn;
}

/* The size is that of the drawing; points of a PDF page are 1/72 inch, pixels 1/96 inch. */
static bool draw(RsvgHandle *handle, bool pdf, image_output *output)
{
  gdouble width = 0, height = 0;
  if (!cairo_functions.rsvg_handle_get_intrinsic_size_in_pixels(handle, &width, &height))
    return false;
  cairo_surface_t *surface =
      pdf ? cairo_functions.cairo_pdf_surface_create_for_stream(send_bytes, output, 0.75 * width,
                                                                0.75 * height)
          : cairo_functions.cairo_image_surface_create(
                CAIRO_FORMAT_ARGB32, (int)(pixel_scale * width), (int)(pixel_scale * height));
  bool drawn = render(handle, surface, width, height, pdf ? 0.75 : pixel_scale);
  if (drawn && !pdf)
    drawn = cairo_functions.cairo_surface_write_to_png_stream(surface, send_bytes, output) ==
            CAIRO_STATUS_SUCCESS;
  cairo_functions.cairo_surface_finish(surface);
  drawn = drawn && cairo_functions.cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS;
  cairo_functions.cairo_surface_destroy(surface);
  return drawn;
}

/* Draw an SVG text. Returns DRAWN, NOT_DRAWN or NO_LIBRARY. */
static int draw_text(const char *text, bool pdf, image_output *output)
{
  if (!load_library()) return NO_LIBRARY;
  RsvgHandle *handle =
      cairo_functions.rsvg_handle_new_from_data((const guint8 *)text, strlen(text), NULL);
  if (!handle) return NOT_DRAWN;
  const bool drawn = draw(handle, pdf, output);
  cairo_functions.g_object_unref(handle);
  return drawn ? DRAWN : NOT_DRAWN;
}

/* The error of a drawing that did not succeed. `code` is that of draw_text; others: the child was
 * ended by a signal. */
static idm_status fail_drawing(int code, const char *path, idm_error *opt_error)
{
  if (code == NOT_DRAWN) return idm_fail(opt_error, IDM_SYSTEM, "%s: cannot be drawn", path);
  if (code == NO_LIBRARY)
    return idm_fail(opt_error, IDM_SYSTEM,
                    "%s: images need librsvg (%s), which this machine lacks or has no memory for; "
                    ".svg works without it",
                    path, IDM_RSVG_LIBRARY);
  return idm_fail(opt_error, IDM_SYSTEM,
                  "%s: cannot be drawn: librsvg was stopped, most likely because memory ran out; "
                  ".svg takes less",
                  path);
}

static idm_status draw_here(const char *text, bool pdf, idm_file *file, const char *path,
                            idm_error *opt_error)
{
  image_output output = {.file = file, .descriptor = -1};
  const int code = draw_text(text, pdf, &output);
  return code == DRAWN ? IDM_OK : fail_drawing(code, path, opt_error);
}

/* --- drawing process ------------------------------------------------------------------------- */

/* Main function of the child, which sends the image through a pipe; does not return. */
static _Noreturn void draw_in_child(const char *text, bool pdf, int descriptor)
{
  const struct rlimit none = {0, 0};
  const int null_device = open("/dev/null", O_WRONLY);
  image_output output = {.descriptor = descriptor};
  (void)setrlimit(RLIMIT_CORE, &none);
  if (null_device >= 0) (void)dup2(null_device, STDERR_FILENO); /* messages of the libraries */
  (void)signal(SIGPIPE, SIG_DFL);
  (void)signal(SIGABRT, SIG_DFL);
  _exit(draw_text(text, pdf, &output));
}

/* Copy the bytes of the image to the file; returns the exit status of the child, -1 if a signal
 * ended it. */
static int collect_output(int descriptor, pid_t child, idm_file *file)
{
  char block[1 << 14];
  int state = 0;
  ssize_t length;
  while ((length = read(descriptor, block, sizeof block)) > 0 || (length < 0 && errno == EINTR))
    if (length > 0) idm_file_write(file, block, (size_t)length);
  close(descriptor);
  while (waitpid(child, &state, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

static idm_status draw_isolated(const char *text, bool pdf, idm_file *file, const char *path,
                                idm_error *opt_error)
{
  int ends[2];
  if (pipe(ends) != 0)
    return idm_fail(opt_error, IDM_SYSTEM, "%s: cannot be drawn: %s", path, strerror(errno));
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    draw_in_child(text, pdf, ends[1]);
  }
  const int reason = errno;
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return idm_fail(opt_error, IDM_SYSTEM, "%s: cannot be drawn: %s", path, strerror(reason));
  }
  const int code = collect_output(ends[0], child, file);
  return code == DRAWN ? IDM_OK : fail_drawing(code, path, opt_error);
}

/* A way to draw an image into a file: in the calling process, or in a child. */
typedef idm_status image_drawer(const char *text, bool pdf, idm_file *file, const char *path,
                                idm_error *opt_error);

static idm_status write_image(char *text, bool pdf, image_drawer *drawer, const char *path,
                              idm_error *opt_error)
{
  idm_file *file = NULL;
  idm_status status = idm_file_create(path, &file, opt_error);
  if (status == IDM_OK) status = drawer(text, pdf, file, path, opt_error);
  free(text);
  if (status == IDM_OK) return idm_file_commit(file, opt_error);
  idm_file_abandon(file);
  return status;
}

/* --- figures -------------------------------------------------------------------------------- */

idm_status idm_figure_check_path(const char *path, idm_error *opt_error)
{
  idm_require(path);
  static const char *const endings[] = {".svg", ".png", ".pdf"};
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
  if (!dot || dot == name) return IDM_OK; /* a device, or a name without extension */
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
    if (ends_with(path, endings[i])) return IDM_OK;
  return idm_fail(opt_error, IDM_USAGE,
                  "'%s' has the ending '%s', which is no picture; expected .svg, .png or .pdf",
                  path, dot);
}

static idm_status write_figure(const idm_figure *figure, const idm_figure_options *options,
                               image_drawer *drawer, const char *path, idm_error *opt_error)
{
  const bool pdf = ends_with(path, ".pdf");
  const bool image = pdf || ends_with(path, ".png");
  idm_figure_options fixed = *options;
  char *text;
  idm_status status = idm_figure_check_path(path, opt_error);
  if (status != IDM_OK) return status;
  /* Images cannot adapt to the theme of the reader. */
  if (image && fixed.theme == IDM_THEME_AUTO) fixed.theme = IDM_THEME_LIGHT;
  status = idm_figure_svg(figure, &fixed, &text, opt_error);
  if (status != IDM_OK) return status;
  return image ? write_image(text, pdf, drawer, path, opt_error)
               : write_text(text, path, opt_error);
}

idm_status idm_figure_write(const idm_figure *figure, const idm_figure_options *options,
                            const char *path, idm_error *opt_error)
{
  idm_require(figure, options, path);
  return write_figure(figure, options, draw_here, path, opt_error);
}

idm_status idm_figure_write_isolated(const idm_figure *figure, const idm_figure_options *options,
                                     const char *path, idm_error *opt_error)
{
  idm_require(figure, options, path);
  return write_figure(figure, options, draw_isolated, path, opt_error);
}

idm_status idm_figure_write_csv(const idm_figure *figure, const char *path, idm_error *opt_error)
{
  idm_require(figure, path);
  char *text;
  const idm_status status = idm_figure_csv(figure, &text, opt_error);
  return status == IDM_OK ? write_text(text, path, opt_error) : status;
}

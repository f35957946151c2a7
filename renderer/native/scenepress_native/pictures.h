/* The class of Python for pictures that threads draw. */
#ifndef PICTURES_H
#define PICTURES_H

#include "interfaces.h"

extern PyType_Spec picture_type;

#endif
